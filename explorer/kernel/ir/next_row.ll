  %next.p = getelementptr i64, ptr %c, i64 ${Context.ROW}
  %next = load i64, ptr %next.p, align 8
  %last.p = getelementptr i64, ptr %c, i64 ${Context.ROW_END}
  %last = load i64, ptr %last.p, align 8
  %none = icmp eq i64 %next, %last
  br i1 %none, label %reserve, label %write
reserve:
  %rows.p = getelementptr i64, ptr %s, i64 ${Shared.ROWS}
  %got = atomicrmw add ptr %rows.p, i64 $row_block monotonic
  %got.end = add i64 %got, $row_block
