define internal void @columns(ptr noalias %rows, i64 %n, ptr noalias %words) {
entry:
  %last = sub i64 %n, 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %which = call i64 @llvm.umin.i64(i64 %i, i64 %last)
  %at = mul i64 %which, $words
  %row = getelementptr i64, ptr %rows, i64 %at
  %to = getelementptr i64, ptr %words, i64 %i$moves
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, $lanes
  br i1 %more, label %loop, label %end
end:
  ret void
}
