define void @enter(ptr %counter, i64 %mask, ptr %any, ptr %fired) {
entry:
  %amount = call i64 @llvm.ctpop.i64(i64 %mask)
  %old = load i64, ptr %counter, align 8
  %new = add i64 %old, %amount
  store i64 %new, ptr %counter, align 8
  %had = load i64, ptr %any, align 8
  %has = or i64 %had, %mask
  store i64 %has, ptr %any, align 8
  %unwanted = icmp eq ptr %fired, null
  br i1 %unwanted, label %end, label %lane
lane:
  %left = phi i64 [ %mask, %entry ], [ %left1, %lane ]
  %i = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %p = getelementptr i64, ptr %fired, i64 %i
  %count = load i64, ptr %p, align 8
  %more = add i64 %count, 1
  store i64 %more, ptr %p, align 8
  %less = sub i64 %left, 1
  %left1 = and i64 %left, %less
  %another = icmp ne i64 %left1, 0
  br i1 %another, label %lane, label %end
end:
  ret void
}
