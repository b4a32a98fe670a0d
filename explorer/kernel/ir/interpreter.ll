;; interpret
define ptr @interpret(ptr noalias %code, ptr noalias %places, i64 %room, ${arguments}) {
entry:
  %registers = alloca ${vector}, i64 %room, align ${bytes}
  %fresh = alloca [${planes} x ${vector}], align ${bytes}
  %masks = alloca [${masks} x i64], align 8
  %record = alloca ptr, align 8
  %before = alloca ptr, align 8
  %idle = alloca i64, align 8
  %origin = shl i64 %position, ${instance_bits}
  store i64 %valid, ptr %masks, align 8
  %none = getelementptr i64, ptr %masks, i64 1
  store i64 0, ptr %none, align 8
  store ptr %out, ptr %record, align 8
  store ptr %out, ptr %before, align 8
  store i64 -1, ptr %idle, align 8
  br label %run
run:
  %at = phi ptr [ %code, %entry ], [ %following, %next ], [ %target, %jump ]
  %following = getelementptr i8, ptr %at, i64 ${size}
  %op = load i32, ptr %at, align 4
  switch i32 %op, label %do.end [
    ${cases}
  ]
next:
  br label %run
jump:
${operations}
}
