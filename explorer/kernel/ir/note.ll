define internal void @note(ptr %best, i64 %check, i64 %step, i64 %walk) alwaysinline {
  %high = shl i64 %step, $walk_bits
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
