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
  %full = icmp ne i64 %step, $ended
  %full.n = zext i1 %full to i64
  %done1 = add i64 %done, %full.n
  %walk = atomicrmw add ptr %cursor, i64 1 monotonic
  %left = icmp ult i64 %walk, %last
  %walk.p = getelementptr i64, ptr %walks, i64 %i
  %base.p = getelementptr i64, ptr %bases, i64 %i
  %row.at = mul i64 %i, $words
  %row = getelementptr i64, ptr %states, i64 %row.at
  br i1 %left, label %begin, label %drop
begin:
  store i64 %walk, ptr %walk.p, align 8
  store i64 0, ptr %step.p, align 8
  %spread = mul i64 %walk, $golden
  %salted = xor i64 %seed, %spread
  %base = call i64 @mix(i64 %salted)
  store i64 %base, ptr %base.p, align 8
  %which = urem i64 %walk, %starts
  %start.at = mul i64 %which, $words
  %start = getelementptr i64, ptr %first, i64 %start.at$copy_b
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
  %row2.at = mul i64 %lanes1, $words
  %row2 = getelementptr i64, ptr %states, i64 %row2.at$copy_d
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
