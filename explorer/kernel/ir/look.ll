define internal void @look(ptr noalias %c, i64 %lanes) {
entry:
  !load %states = %c ${WalkContext.STATES}
  !load %walks = %c ${WalkContext.WALK}
  !load %steps = %c ${WalkContext.STEP}
  !load %hits = %c ${WalkContext.HITS}
  !load %best = %c ${WalkContext.STATE_BEST}
  %end = sub i64 %lanes, 1
  %rounded = add i64 %lanes, $rest
  %blocks = udiv i64 %rounded, $width
  %words = mul i64 %blocks, $checks
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
  %least = phi i64 [ $ended, %clear ], [ %least.n, %soonest ]
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
  %place = urem i64 %k, $divisor
  %block = udiv i64 %k, $divisor
  %offset = mul i64 %block, $width
  %best.p = getelementptr i64, ptr %best, i64 %place
  %old = load i64, ptr %best.p, align 8
  %old.step = lshr i64 %old, $walk_bits
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
  %old.now.step = lshr i64 %old.now, $walk_bits
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
