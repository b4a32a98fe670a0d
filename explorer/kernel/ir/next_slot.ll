  %j0 = add i64 %j, 1
  %wraps = icmp eq i64 %j0, %slots
  %j1 = select i1 %wraps, i64 0, i64 %j0
