define internal i64 @origin(i64 %word, i64 %i, i64 %n) alwaysinline {
  %low = lshr i64 %word, $bits
  %scaled = shl i64 %i, $bits
  %guess = udiv i64 %scaled, %n
  %above = add i64 %guess, 1
  %high1 = shl i64 %above, $place
  %h1 = or i64 %high1, %low
  %home1 = call i64 @home(i64 %h1, i64 %n)
  %inside = icmp ult i64 %above, $credits
  %reached1 = icmp ule i64 %home1, %i
  %take1 = and i1 %inside, %reached1
  %high0 = shl i64 %guess, $place
  %h0 = or i64 %high0, %low
  %home0 = call i64 @home(i64 %h0, i64 %n)
  %take0 = icmp ule i64 %home0, %i
  %below = sub i64 %guess, 1
  %high2 = shl i64 %below, $place
  %h2 = or i64 %high2, %low
  %or0 = select i1 %take0, i64 %h0, i64 %h2
  %h = select i1 %take1, i64 %h1, i64 %or0
  ret i64 %h
}
