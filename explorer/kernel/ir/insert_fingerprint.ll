define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {
entry:
  %low = shl i64 %h, $bits$second
  %home = call i64 @home(i64 %h, i64 %slots)
  %who64 = zext i16 %who to i64
  %credit.new = sub i64 $newest, %who64
  %word = or i64 %low, %credit.new
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %claim ]
  %slot.at = mul i64 %j, $width
  %slot.p = getelementptr i64, ptr %table, i64 %slot.at
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %differ = xor i64 %slot, %word
  %maybe = icmp ult i64 %differ, $credits
  br i1 %maybe, label %$equal, label %step$wait
step:
  !include next_slot
  br label %probe
known:
  %lower = icmp ult i64 %slot, %word
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umax ptr %slot.p, i64 %word monotonic
  br label %end
claim:
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %word acq_rel acquire
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %mine, label %probe
mine:$store
  call void @displaced(ptr %c, i64 %home, i64 %j, i64 %slots)
  !include next_row
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %row = phi i64 [ %next, %mine ], [ %got, %reserve ]
  %fresh.at = mul i64 %row, $words
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at$copy
  %row1 = add i64 %row, 1
  store i64 %row1, ptr %next.p, align 8
  br label %end
end:
  ret void
}
