define internal i64 @mix(i64 %z) alwaysinline {
  %a = lshr i64 %z, 30
  %b = xor i64 %z, %a
  %c = mul i64 %b, $mix_1
  %d = lshr i64 %c, 27
  %e = xor i64 %c, %d
  %f = mul i64 %e, $mix_2
  %g = lshr i64 %f, 31
  %h = xor i64 %f, %g
  ret i64 %h
}
