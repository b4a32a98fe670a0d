;; fold
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

;; home
define internal i64 @home(i64 %h, i64 %slots) alwaysinline {
  %x = zext i64 %h to i128
  %y = zext i64 %slots to i128
  %p = mul i128 %x, %y
  %top = lshr i128 %p, 64
  %r = trunc i128 %top to i64
  ret i64 %r
}

;; hashes
define void @hashes(ptr noalias %rows, i64 %n, ptr noalias %out) {
entry:
  %any = icmp ugt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %at = mul i64 %k, ${words}
  %row = getelementptr i64, ptr %rows, i64 %at
  %h = call i64 @hash(ptr %row)
  %to = getelementptr i64, ptr %out, i64 %k
  store i64 %h, ptr %to, align 8
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
