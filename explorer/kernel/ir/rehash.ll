define void @rehash(ptr noalias %old, i64 %first, i64 %last, i64 %old.mask,
                    ptr noalias %table, i64 %slots, i64 %mask) {
entry:
  %old.upper = xor i64 %old.mask, -1
  %upper = xor i64 %mask, -1
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.p = getelementptr i64, ptr %old, i64 %i
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:
  %row = and i64 %slot, %old.mask
  %tag = and i64 %slot, %upper
  %new = or i64 %tag, %row
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ]
  %to.p = getelementptr i64, ptr %table, i64 %j
  %to = load i64, ptr %to.p, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %put, label %step
step:
  !include next_slot
  br label %probe
put:
  store i64 %new, ptr %to.p, align 8
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}
