define void @hashes(ptr noalias %rows, i64 %n, ptr noalias %out) {
entry:
  %any = icmp ugt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %at = mul i64 %k, $words
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
