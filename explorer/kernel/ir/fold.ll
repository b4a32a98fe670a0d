define internal i64 @fold(i64 %a, i64 %b) alwaysinline {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %p = mul i128 %x, %y
  %low = trunc i128 %p to i64
  %top = lshr i128 %p, 64
  %high = trunc i128 %top to i64
  %r = xor i64 %low, %high
  ret i64 %r
}
