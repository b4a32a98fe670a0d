define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {
entry:
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %lost ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %differ = xor i64 %slot, %h
  %maybe = icmp ule i64 %differ, %mask
  br i1 %maybe, label %compare, label %step
compare:
  %number = and i64 %slot, %mask
  %row = sub i64 %number, 1
  %row.at = mul i64 %row, $words
  %row.p = getelementptr i64, ptr %states, i64 %row.at
  %equal = call i1 @same(ptr %row.p, ptr %state)
  br i1 %equal, label %known, label %step
step:
  !include next_slot
  br label %probe
known:
  %recent = icmp uge i64 %row, %base
  br i1 %recent, label %share, label %end
share:
  %old.p = getelementptr i16, ptr %credit, i64 %row
  %old = load atomic i16, ptr %old.p monotonic, align 2
  %lower = icmp ult i16 %who, %old
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umin ptr %old.p, i16 %who monotonic
  br label %end
claim:
  !include next_row
  store i64 %got, ptr %next.p, align 8
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %mine = phi i64 [ %next, %claim ], [ %got, %reserve ]
  %fresh.at = mul i64 %mine, $words
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at$copy
  %credit.p = getelementptr i16, ptr %credit, i64 %mine
  store i16 %who, ptr %credit.p, align 2
  %mine1 = add i64 %mine, 1
  %new = or i64 %tag, %mine1
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %new acq_rel acquire
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %publish, label %lost
lost:
  br label %probe
publish:
  store i64 %mine1, ptr %next.p, align 8
  br label %end
end:
  ret void
}
