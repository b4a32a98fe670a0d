;; mix
define internal i64 @mix(i64 %z) alwaysinline {
  %a = lshr i64 %z, 30
  %b = xor i64 %z, %a
  %c = mul i64 %b, ${mix_1}
  %d = lshr i64 %c, 27
  %e = xor i64 %c, %d
  %f = mul i64 %e, ${mix_2}
  %g = lshr i64 %f, 31
  %h = xor i64 %f, %g
  ret i64 %h
}

;; sketch
define internal void @sketch(ptr %sketch, ptr %row) alwaysinline {
${rounds}
  %place = lshr i64 ${hash}, ${index_shift}
  %moved = shl i64 ${hash}, ${index_bits}
  %rest = or i64 %moved, ${guard}
  %zeros = call i64 @llvm.ctlz.i64(i64 %rest, i1 true)
  %rank.w = add i64 %zeros, 1
  %rank = trunc i64 %rank.w to i8
  %at = getelementptr i8, ptr %sketch, i64 %place
  %old = load i8, ptr %at, align 1
  %up = icmp ugt i8 %rank, %old
  %new = select i1 %up, i8 %rank, i8 %old
  store i8 %new, ptr %at, align 1
  ret void
}

;; note
define internal void @note(ptr %best, i64 %check, i64 %step, i64 %walk) alwaysinline {
  %high = shl i64 %step, ${walk_bits}
  %key = or i64 %high, %walk
  %at = getelementptr i64, ptr %best, i64 %check
  %old = load i64, ptr %at, align 8
  %new = call i64 @llvm.umin.i64(i64 %old, i64 %key)
  store i64 %new, ptr %at, align 8
  ret void
}
define internal void @note_all(ptr %best, i64 %first, i64 %bits, i64 %step, i64 %walk) noinline {
entry:
  br label %next
next:
  %left = phi i64 [ %bits, %entry ], [ %rest, %hit ]
  %any = icmp ne i64 %left, 0
  br i1 %any, label %hit, label %finish
hit:
  %bit = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %below = sub i64 %left, 1
  %rest = and i64 %left, %below
  %check = add i64 %first, %bit
  call void @note(ptr %best, i64 %check, i64 %step, i64 %walk)
  br label %next
finish:
  ret void
}

;; refill
define internal i64 @refill(ptr noalias %s, ptr noalias %c) {
entry:
  !load %lanes0 = %c ${WalkContext.LANES} i64
  !load %done0 = %c ${WalkContext.DONE} i64
  !load %states = %c ${WalkContext.STATES}
  !load %walks = %c ${WalkContext.WALK}
  !load %steps = %c ${WalkContext.STEP}
  !load %bases = %c ${WalkContext.BASE}
  !load %sketch = %c ${WalkContext.SKETCH}
  !load %last = %s ${WalkShared.LAST} i64
  !load %seed = %s ${WalkShared.SEED} i64
  !load %depth = %s ${WalkShared.DEPTH} i64
  !load %first = %s ${WalkShared.START}
  !load %starts = %s ${WalkShared.STARTS} i64
  %cursor = getelementptr i64, ptr %s, i64 ${WalkShared.CURSOR}
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i, %drop ], [ %i1, %go ]
  %lanes = phi i64 [ %lanes0, %entry ], [ %lanes1, %drop ], [ %lanes.go, %go ]
  %done = phi i64 [ %done0, %entry ], [ %done1, %drop ], [ %done.go, %go ]
  %more = icmp ult i64 %i, %lanes
  br i1 %more, label %lane, label %finish
lane:
  %step.p = getelementptr i64, ptr %steps, i64 %i
  %step = load i64, ptr %step.p, align 8
  %over = icmp uge i64 %step, %depth
  br i1 %over, label %take, label %go
take:
  %full = icmp ne i64 %step, ${ended}
  %full.n = zext i1 %full to i64
  %done1 = add i64 %done, %full.n
  %walk = atomicrmw add ptr %cursor, i64 1 monotonic
  %left = icmp ult i64 %walk, %last
  %walk.p = getelementptr i64, ptr %walks, i64 %i
  %base.p = getelementptr i64, ptr %bases, i64 %i
  %row.at = mul i64 %i, ${words}
  %row = getelementptr i64, ptr %states, i64 %row.at
  br i1 %left, label %begin, label %drop
begin:
  store i64 %walk, ptr %walk.p, align 8
  store i64 0, ptr %step.p, align 8
  %spread = mul i64 %walk, ${golden}
  %salted = xor i64 %seed, %spread
  %base = call i64 @mix(i64 %salted)
  store i64 %base, ptr %base.p, align 8
  %which = urem i64 %walk, %starts
  %start.at = mul i64 %which, ${words}
  %start = getelementptr i64, ptr %first, i64 %start.at${copy_b}
  call void @sketch(ptr %sketch, ptr %row)
  br label %go
drop:
  %lanes1 = sub i64 %lanes, 1
  %step2.p = getelementptr i64, ptr %steps, i64 %lanes1
  %walk2.p = getelementptr i64, ptr %walks, i64 %lanes1
  %base2.p = getelementptr i64, ptr %bases, i64 %lanes1
  %step2 = load i64, ptr %step2.p, align 8
  %walk2 = load i64, ptr %walk2.p, align 8
  %base2 = load i64, ptr %base2.p, align 8
  store i64 %step2, ptr %step.p, align 8
  store i64 %walk2, ptr %walk.p, align 8
  store i64 %base2, ptr %base.p, align 8
  %row2.at = mul i64 %lanes1, ${words}
  %row2 = getelementptr i64, ptr %states, i64 %row2.at${copy_d}
  br label %next
go:
  %lanes.go = phi i64 [ %lanes, %lane ], [ %lanes, %begin ]
  %done.go = phi i64 [ %done, %lane ], [ %done1, %begin ]
  %i1 = add i64 %i, 1
  br label %next
finish:
  store i64 %lanes, ptr %lanes0.f, align 8
  store i64 %done, ptr %done0.f, align 8
  ret i64 %lanes
}

;; choose
define internal void @choose(ptr noalias %c, i64 %lanes, i64 %made) {
entry:
  !load %states = %c ${WalkContext.STATES}
  !load %walks = %c ${WalkContext.WALK}
  !load %steps = %c ${WalkContext.STEP}
  !load %bases = %c ${WalkContext.BASE}
  !load %chances = %c ${WalkContext.CHANCE}
  !load %keys = %c ${WalkContext.KEY}
  !load %picks = %c ${WalkContext.PICK}
  !load %fired = %c ${WalkContext.FIRED}
  !load %recs = %c ${WalkContext.RECORDS}
  !load %taken = %c ${WalkContext.TAKEN}
  !load %best = %c ${WalkContext.STEP_BEST}
  !load %sketch = %c ${WalkContext.SKETCH}
  !load %total = %c ${WalkContext.STEPS} i64
  !load %done = %c ${WalkContext.DONE} i64
  !load %blocked = %c ${WalkContext.BLOCKED} i64
  !load %deepest = %c ${WalkContext.DEEPEST} i64
  br label %draw
draw:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %draw ]
  %base0.p = getelementptr i64, ptr %bases, i64 %i0
  %step0.p = getelementptr i64, ptr %steps, i64 %i0
  %chance0.p = getelementptr i64, ptr %chances, i64 %i0
  %key0.p = getelementptr i64, ptr %keys, i64 %i0
  %pick0.p = getelementptr i64, ptr %picks, i64 %i0
  %base0 = load i64, ptr %base0.p, align 8
  %step0 = load i64, ptr %step0.p, align 8
  %number0 = add i64 %step0, 1
  %far0 = mul i64 %number0, ${golden}
  %z0 = add i64 %base0, %far0
  %chance0 = call i64 @mix(i64 %z0)
  store i64 %chance0, ptr %chance0.p, align 8
  store i64 ${ended}, ptr %key0.p, align 8
  store i64 ${ended}, ptr %pick0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %lanes
  br i1 %more0, label %draw, label %drawn
drawn:
  %some = icmp ne i64 %made, 0
  br i1 %some, label %compare, label %move
compare:
  %k1 = phi i64 [ 0, %drawn ], [ %k1n, %compare ]
  %rec1.at = mul i64 %k1, ${record_size}
  %rec1.o = add i64 %rec1.at, ${origin}
  %origin1.p = getelementptr i64, ptr %recs, i64 %rec1.o
  %origin1 = load i64, ptr %origin1.p, align 8
  %lane1 = lshr i64 %origin1, ${instance_bits}
  %instance1 = and i64 %origin1, ${instance_mask}
  %chance1.p = getelementptr i64, ptr %chances, i64 %lane1
  %key1.p = getelementptr i64, ptr %keys, i64 %lane1
  %pick1.p = getelementptr i64, ptr %picks, i64 %lane1
  %chance1 = load i64, ptr %chance1.p, align 8
  %spread1 = mul i64 %instance1, ${mix_2}
  %z1 = add i64 %chance1, %spread1
  %mine1 = call i64 @mix(i64 %z1)
  %key1 = load i64, ptr %key1.p, align 8
  %pick1 = load i64, ptr %pick1.p, align 8
  %less1 = icmp ule i64 %mine1, %key1
  %key1n = select i1 %less1, i64 %mine1, i64 %key1
  %pick1n = select i1 %less1, i64 %k1, i64 %pick1
  store i64 %key1n, ptr %key1.p, align 8
  store i64 %pick1n, ptr %pick1.p, align 8
  %k1n = add i64 %k1, 1
  %more1 = icmp ult i64 %k1n, %made
  br i1 %more1, label %compare, label %move
move:
  %i4 = phi i64 [ 0, %drawn ], [ 0, %compare ], [ %i4n, %step ]
  %total4 = phi i64 [ %total, %drawn ], [ %total, %compare ], [ %total4n, %step ]
  %done4 = phi i64 [ %done, %drawn ], [ %done, %compare ], [ %done4n, %step ]
  %blocked4 = phi i64 [ %blocked, %drawn ], [ %blocked, %compare ], [ %blocked4n, %step ]
  %deepest4 = phi i64 [ %deepest, %drawn ], [ %deepest, %compare ], [ %deepest4n, %step ]
  %pick4.p = getelementptr i64, ptr %picks, i64 %i4
  %step4.p = getelementptr i64, ptr %steps, i64 %i4
  %pick4 = load i64, ptr %pick4.p, align 8
  %step4 = load i64, ptr %step4.p, align 8
  %moves = icmp ne i64 %pick4, ${ended}
  br i1 %moves, label %accept, label %end
accept:
  %rec3.at = mul i64 %pick4, ${record_size}
  %rec3 = getelementptr i64, ptr %recs, i64 %rec3.at
  %row3.at = mul i64 %i4, ${words}
  %row3 = getelementptr i64, ptr %states, i64 %row3.at${copy_a}
  %origin3.p = getelementptr i64, ptr %rec3, i64 ${origin}
  %origin3 = load i64, ptr %origin3.p, align 8
  %instance3 = and i64 %origin3, ${instance_mask}
  %taken.p = getelementptr i64, ptr %taken, i64 %instance3
  %taken0 = load i64, ptr %taken.p, align 8
  %taken1 = add i64 %taken0, 1
  store i64 %taken1, ptr %taken.p, align 8
  call void @sketch(ptr %sketch, ptr %row3)
  %step3 = add i64 %step4, 1
  %walk3.p = getelementptr i64, ptr %walks, i64 %i4
  %walk3 = load i64, ptr %walk3.p, align 8${flags}
  br label %step
end:
  %fired4.p = getelementptr i64, ptr %fired, i64 %i4
  %fired4 = load i64, ptr %fired4.p, align 8
  %stuck = icmp ne i64 %fired4, 0
  %stuck.n = zext i1 %stuck to i64
  br label %step
step:
  %step4n = phi i64 [ %step3, %accept ], [ ${ended}, %end ]
  %deepest.now = phi i64 [ %step3, %accept ], [ 0, %end ]
  %moved4 = phi i64 [ 1, %accept ], [ 0, %end ]
  %ended4 = phi i64 [ 0, %accept ], [ 1, %end ]
  %stuck4 = phi i64 [ 0, %accept ], [ %stuck.n, %end ]
  store i64 %step4n, ptr %step4.p, align 8
  %total4n = add i64 %total4, %moved4
  %done4n = add i64 %done4, %ended4
  %blocked4n = add i64 %blocked4, %stuck4
  %deepest4n = call i64 @llvm.umax.i64(i64 %deepest4, i64 %deepest.now)
  %i4n = add i64 %i4, 1
  %more4 = icmp ult i64 %i4n, %lanes
  br i1 %more4, label %move, label %moved
moved:
  store i64 %total4n, ptr %total.f, align 8
  store i64 %done4n, ptr %done.f, align 8
  store i64 %blocked4n, ptr %blocked.f, align 8
  store i64 %deepest4n, ptr %deepest.f, align 8
  ret void
}

;; look
define internal void @look(ptr noalias %c, i64 %lanes) {
entry:
  !load %states = %c ${WalkContext.STATES}
  !load %walks = %c ${WalkContext.WALK}
  !load %steps = %c ${WalkContext.STEP}
  !load %hits = %c ${WalkContext.HITS}
  !load %best = %c ${WalkContext.STATE_BEST}
  %end = sub i64 %lanes, 1
  %rounded = add i64 %lanes, ${rest}
  %blocks = udiv i64 %rounded, ${width}
  %words = mul i64 %blocks, ${checks}
  %some = icmp ne i64 %words, 0
  br i1 %some, label %clear, label %return
clear:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %clear ]
  %hit0.p = getelementptr i64, ptr %hits, i64 %i0
  store i64 0, ptr %hit0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %words
  br i1 %more0, label %clear, label %soonest
soonest:
  %i1 = phi i64 [ 0, %clear ], [ %i1n, %soonest ]
  %least = phi i64 [ ${ended}, %clear ], [ %least.n, %soonest ]
  %step1.p = getelementptr i64, ptr %steps, i64 %i1
  %step1 = load i64, ptr %step1.p, align 8
  %least.n = call i64 @llvm.umin.i64(i64 %least, i64 %step1)
  %i1n = add i64 %i1, 1
  %more1 = icmp ult i64 %i1n, %lanes
  br i1 %more1, label %soonest, label %evaluate
evaluate:
  call void @check(ptr %states, i64 0, i64 %lanes, ptr %hits, i64 1)
  br label %word
word:
  %k = phi i64 [ 0, %evaluate ], [ %kn, %word.next ]
  %hit.p = getelementptr i64, ptr %hits, i64 %k
  %hit = load i64, ptr %hit.p, align 8
  %any = icmp ne i64 %hit, 0
  br i1 %any, label %known, label %word.next
known:
  %place = urem i64 %k, ${divisor}
  %block = udiv i64 %k, ${divisor}
  %offset = mul i64 %block, ${width}
  %best.p = getelementptr i64, ptr %best, i64 %place
  %old = load i64, ptr %best.p, align 8
  %old.step = lshr i64 %old, ${walk_bits}
  %useful = icmp ule i64 %least.n, %old.step
  br i1 %useful, label %bit, label %word.next
bit:
  %bits = phi i64 [ %hit, %known ], [ %rest, %bit.next ]
  %number = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %below = sub i64 %bits, 1
  %rest = and i64 %bits, %below
  %lane0 = add i64 %offset, %number
  %lane = call i64 @llvm.umin.i64(i64 %lane0, i64 %end)
  %step.p = getelementptr i64, ptr %steps, i64 %lane
  %step = load i64, ptr %step.p, align 8
  %old.now = load i64, ptr %best.p, align 8
  %old.now.step = lshr i64 %old.now, ${walk_bits}
  %sooner = icmp ule i64 %step, %old.now.step
  br i1 %sooner, label %note, label %bit.next
note:
  %walk.p = getelementptr i64, ptr %walks, i64 %lane
  %walk = load i64, ptr %walk.p, align 8
  call void @note(ptr %best, i64 %place, i64 %step, i64 %walk)
  br label %bit.next
bit.next:
  %again = icmp ne i64 %rest, 0
  br i1 %again, label %bit, label %word.next
word.next:
  %kn = add i64 %k, 1
  %more = icmp ult i64 %kn, %words
  br i1 %more, label %word, label %return
return:
  ret void
}

;; walk
define i64 @walk(ptr noalias %s, ptr noalias %c) {
entry:
  !load %rounds = %c ${WalkContext.ROUNDS} i64
  !load %states = %c ${WalkContext.STATES}
  !load %recs = %c ${WalkContext.RECORDS}
  !load %counters = %c ${WalkContext.COUNTERS}
  !load %fired = %c ${WalkContext.FIRED}
  %seen = alloca [${flag_words} x i64], align 8
  store [${flag_words} x i64] zeroinitializer, ptr %seen, align 8
  br label %round
round:
  %r = phi i64 [ 0, %entry ], [ %rn, %step ]
  %lanes = call i64 @refill(ptr %s, ptr %c)
  %any = icmp ne i64 %lanes, 0
  %left = icmp ult i64 %r, %rounds
  %on = and i1 %any, %left
  br i1 %on, label %step, label %return
step:
  %made = call i64 @expand(ptr %states, i64 0, i64 %lanes, ptr %recs, ptr %counters, ptr %fired,
                           ptr %seen, ptr null, i64 0)
  call void @choose(ptr %c, i64 %lanes, i64 %made)
  call void @look(ptr %c, i64 %lanes)
  %rn = add i64 %r, 1
  br label %round
return:
  ret i64 %lanes
}
