define void @settle(ptr noalias %table, i64 %first, i64 %last, ptr noalias %counts) {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %at = mul i64 %i, $width
  %p = getelementptr i64, ptr %table, i64 %at
  %word = load i64, ptr %p, align 8
  %credit = and i64 %word, $old
  %minus = sub i64 %credit, 1
  %new = icmp ult i64 %minus, $newest
  br i1 %new, label %count, label %next
count:
  %who = sub i64 $newest, %credit
  %count.p = getelementptr i64, ptr %counts, i64 %who
  %had = load i64, ptr %count.p, align 8
  %now = add i64 %had, 1
  store i64 %now, ptr %count.p, align 8
  %settled = or i64 %word, $old
  store i64 %settled, ptr %p, align 8
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}
