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
  %far0 = mul i64 %number0, $golden
  %z0 = add i64 %base0, %far0
  %chance0 = call i64 @mix(i64 %z0)
  store i64 %chance0, ptr %chance0.p, align 8
  store i64 $ended, ptr %key0.p, align 8
  store i64 $ended, ptr %pick0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %lanes
  br i1 %more0, label %draw, label %drawn
drawn:
  %some = icmp ne i64 %made, 0
  br i1 %some, label %compare, label %move
compare:
  %k1 = phi i64 [ 0, %drawn ], [ %k1n, %compare ]
  %rec1.at = mul i64 %k1, $record_size
  %rec1.o = add i64 %rec1.at, $origin
  %origin1.p = getelementptr i64, ptr %recs, i64 %rec1.o
  %origin1 = load i64, ptr %origin1.p, align 8
  %lane1 = lshr i64 %origin1, $instance_bits
  %instance1 = and i64 %origin1, $instance_mask
  %chance1.p = getelementptr i64, ptr %chances, i64 %lane1
  %key1.p = getelementptr i64, ptr %keys, i64 %lane1
  %pick1.p = getelementptr i64, ptr %picks, i64 %lane1
  %chance1 = load i64, ptr %chance1.p, align 8
  %spread1 = mul i64 %instance1, $mix_2
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
  %moves = icmp ne i64 %pick4, $ended
  br i1 %moves, label %accept, label %end
accept:
  %rec3.at = mul i64 %pick4, $record_size
  %rec3 = getelementptr i64, ptr %recs, i64 %rec3.at
  %row3.at = mul i64 %i4, $words
  %row3 = getelementptr i64, ptr %states, i64 %row3.at$copy_a
  %origin3.p = getelementptr i64, ptr %rec3, i64 $origin
  %origin3 = load i64, ptr %origin3.p, align 8
  %instance3 = and i64 %origin3, $instance_mask
  %taken.p = getelementptr i64, ptr %taken, i64 %instance3
  %taken0 = load i64, ptr %taken.p, align 8
  %taken1 = add i64 %taken0, 1
  store i64 %taken1, ptr %taken.p, align 8
  call void @sketch(ptr %sketch, ptr %row3)
  %step3 = add i64 %step4, 1
  %walk3.p = getelementptr i64, ptr %walks, i64 %i4
  %walk3 = load i64, ptr %walk3.p, align 8$flags
  br label %step
end:
  %fired4.p = getelementptr i64, ptr %fired, i64 %i4
  %fired4 = load i64, ptr %fired4.p, align 8
  %stuck = icmp ne i64 %fired4, 0
  %stuck.n = zext i1 %stuck to i64
  br label %step
step:
  %step4n = phi i64 [ %step3, %accept ], [ $ended, %end ]
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
