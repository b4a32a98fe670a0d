define internal i64 @home(i64 %h, i64 %slots) alwaysinline {
  %x = zext i64 %h to i128
  %y = zext i64 %slots to i128
  %p = mul i128 %x, %y
  %top = lshr i128 %p, 64
  %r = trunc i128 %top to i64
  ret i64 %r
}
