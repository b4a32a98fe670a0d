define i64 @walk(ptr noalias %s, ptr noalias %c) {
entry:
  !load %rounds = %c ${WalkContext.ROUNDS} i64
  !load %states = %c ${WalkContext.STATES}
  !load %recs = %c ${WalkContext.RECORDS}
  !load %counters = %c ${WalkContext.COUNTERS}
  !load %fired = %c ${WalkContext.FIRED}
  %seen = alloca [$flag_words x i64], align 8
  store [$flag_words x i64] zeroinitializer, ptr %seen, align 8
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
