;; records
define ptr @records(ptr noalias %out, i64 %keep, ptr noalias %words, ptr noalias %fresh,
                    ptr noalias %places, i64 %count, i64 %first) {
entry:
  %some = icmp ne i64 %keep, 0
  br i1 %some, label %record, label %end
record:
  %at = phi ptr [ %out, %entry ], [ %at1, %next ]
  %left = phi i64 [ %keep, %entry ], [ %left1, %next ]
  %lane = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %column = getelementptr i64, ptr %words, i64 %lane${copies}
  %position = shl i64 %lane, ${instance_bits}
  %origin = add i64 %first, %position
  %origin.p = getelementptr i64, ptr %at, i64 ${origin}
  store i64 %origin, ptr %origin.p, align 8${clear}
  %mine = getelementptr ${kind}, ptr %fresh, i64 %lane
  br label %piece
piece:
  %k = phi i64 [ 0, %record ], [ %k1, %put ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %put, label %next
put:
  %place.p = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place.p, align 8
  %offset = mul i64 %k, ${count}
  %value.p = getelementptr ${kind}, ptr %mine, i64 %offset
  %value = load ${kind}, ptr %value.p, align ${size}
  %piece.p = getelementptr ${kind}, ptr %at, i64 %place
  store ${kind} %value, ptr %piece.p, align ${size}
  %k1 = add i64 %k, 1
  br label %piece
next:
  %less = sub i64 %left, 1
  %left1 = and i64 %left, %less
  %at1 = getelementptr i64, ptr %at, i64 ${record_size}
  %another = icmp ne i64 %left1, 0
  br i1 %another, label %record, label %end
end:
  %reached = phi ptr [ %out, %entry ], [ %at1, %next ]
  ret ptr %reached
}
define void @flag(ptr %from, ptr %to, i64 %lanes, i64 %position, ptr %seen, i64 %word, i64 %bit) {
entry:
  %any = icmp ne i64 %lanes, 0
  br i1 %any, label %note, label %end
note:
  %mark = shl i64 1, %bit
  %seen.p = getelementptr i64, ptr %seen, i64 %word
  %old = load i64, ptr %seen.p, align 8
  %new = or i64 %old, %mark
  store i64 %new, ptr %seen.p, align 8
  %column = add i64 %word, ${flags_at}
  br label %loop
loop:
  %at = phi ptr [ %from, %note ], [ %at1, %put ]
  %more = icmp ult ptr %at, %to
  br i1 %more, label %put, label %end
put:
  %origin.p = getelementptr i64, ptr %at, i64 ${origin}
  %origin = load i64, ptr %origin.p, align 8
  %state = lshr i64 %origin, ${instance_bits}
  %lane = sub i64 %state, %position
  %moved = lshr i64 %lanes, %lane
  %one = and i64 %moved, 1
  %flag = shl i64 %one, %bit
  %flags.p = getelementptr i64, ptr %at, i64 %column
  %had = load i64, ptr %flags.p, align 8
  %has = or i64 %had, %flag
  store i64 %has, ptr %flags.p, align 8
  %at1 = getelementptr i64, ptr %at, i64 ${record_size}
  br label %loop
end:
  ret void
}
