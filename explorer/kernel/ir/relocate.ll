define void @relocate(ptr noalias %s, i64 %from, i64 %to) {
entry:
  !include setup
  %source.at = mul i64 %from, $words
  %source = getelementptr i64, ptr %states, i64 %source.at
  %target.at = mul i64 %to, $words
  %target = getelementptr i64, ptr %states, i64 %target.at
  %h = call i64 @hash(ptr %source)
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  %from1 = add i64 %from, 1
  %to1 = add i64 %to, 1
  %old = or i64 %tag, %from1
  %new = or i64 %tag, %to1
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load i64, ptr %slot.p, align 8
  %found = icmp eq i64 %slot, %old
  br i1 %found, label %move, label %step
step:
  !include next_slot
  br label %probe
move:
  store i64 %new, ptr %slot.p, align 8$copy
  %credit.from = getelementptr i16, ptr %credit, i64 %from
  %credit.moved = load i16, ptr %credit.from, align 2
  %credit.to = getelementptr i16, ptr %credit, i64 %to
  store i16 %credit.moved, ptr %credit.to, align 2
  ret void
}
