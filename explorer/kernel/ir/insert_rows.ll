define void @insert_rows(ptr noalias %s, ptr noalias %c, ptr noalias %rows, i64 %n, ptr noalias %whos) {
entry:
  !include setup
  !load %hashes = %c ${Context.HASHES}
  %upper = xor i64 %mask, -1
  br label %batch
batch:
  %from = phi i64 [ 0, %entry ], [ %to, %batch.next ]
  %to0 = add i64 %from, $insert_batch
  %to = call i64 @llvm.umin.i64(i64 %to0, i64 %n)
  %some = icmp ult i64 %from, %to
  br i1 %some, label %ahead, label %end
ahead:
  %i = phi i64 [ %from, %batch ], [ %i1, %ahead ]
  %i.at = mul i64 %i, $words
  %i.state = getelementptr i64, ptr %rows, i64 %i.at
  %i.h = call i64 @hash(ptr %i.state)
  %i.k = sub i64 %i, %from
  %i.p = getelementptr i64, ptr %hashes, i64 %i.k
  store i64 %i.h, ptr %i.p, align 8
  %i.tag = and i64 %i.h, %upper
  %i.home = call i64 @home(i64 %i.tag, i64 %slots)
  %i.slot.at = mul i64 %i.home, $width
  %i.slot = getelementptr i64, ptr %table, i64 %i.slot.at
  call void @llvm.prefetch.p0(ptr %i.slot, i32 1, i32 3, i32 1)
  %i1 = add i64 %i, 1
  %i.more = icmp ult i64 %i1, %to
  br i1 %i.more, label %ahead, label %loop
loop:
  %k = phi i64 [ %from, %ahead ], [ %k1, %loop ]
  %at = mul i64 %k, $words
  %state = getelementptr i64, ptr %rows, i64 %at
  %h.k = sub i64 %k, %from
  %h.p = getelementptr i64, ptr %hashes, i64 %h.k
  %h = load i64, ptr %h.p, align 8
  %who.p = getelementptr i16, ptr %whos, i64 %k
  %who = load i16, ptr %who.p, align 2
  call void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who,
                    ptr %states, ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base)
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %to
  br i1 %more, label %loop, label %batch.next
batch.next:
  br label %batch
end:
  ret void
}
