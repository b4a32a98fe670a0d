define void @rehash(ptr noalias %old, i64 %first, i64 %last, i64 %n,
                    ptr noalias %table, i64 %slots, ptr noalias %c) {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.at = mul i64 %i, $width
  %slot.p = getelementptr i64, ptr %old, i64 %slot.at
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:
  %h = call i64 @origin(i64 %slot, i64 %i, i64 %n)
  %home = call i64 @home(i64 %h, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ], [ %j, %claim ]
  %to.at = mul i64 %j, $width
  %to.p = getelementptr i64, ptr %table, i64 %to.at
  %to = load atomic i64, ptr %to.p monotonic, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %claim, label %step
step:
  !include next_slot
  br label %probe
claim:
  %swap = cmpxchg ptr %to.p, i64 0, i64 %slot monotonic monotonic
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %put, label %probe
put:$store
  call void @displaced(ptr %c, i64 %home, i64 %j, i64 %slots)
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}
