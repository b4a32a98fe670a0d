define internal void @cut(ptr noalias %words, i64 %count, ptr noalias %planes) {
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %from.at = mul i64 %k, $lanes
  %from = getelementptr i64, ptr %words, i64 %from.at
  %planes.at = mul i64 %k, $plane_bytes
  %mine = getelementptr i8, ptr %planes, i64 %planes.at
  br label %loop
loop:
  %i = phi i64 [ 0, %each ], [ %i1, %loop ]
  %word.p = getelementptr i64, ptr %from, i64 %i
  %word = load <8 x i64>, ptr %word.p, align 8
  %to.at = mul i64 %i, $size
  %to = getelementptr i8, ptr %mine, i64 %to.at$moves
  %i1 = add i64 %i, 8
  %more = icmp ult i64 %i1, $lanes
  br i1 %more, label %loop, label %next
next:
  %k1 = add i64 %k, 1
  %another = icmp ult i64 %k1, %count
  br i1 %another, label %each, label %end
end:
  ret void
}
