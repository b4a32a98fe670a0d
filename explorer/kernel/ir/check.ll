define void @check(ptr noalias %states, i64 %first, i64 %last, ptr noalias %out, i64 %step) {
entry:$buffers
  %stride = mul i64 %step, $checks
  br label %next
next:
  %i = phi i64 [ %first, %entry ], [ %i1, %block ]
  %to = phi ptr [ %out, %entry ], [ %to1, %block ]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %block, label %done
block:$cut
$body
  %to1 = getelementptr i64, ptr %to, i64 %stride
  br label %next
done:
  ret void
}
