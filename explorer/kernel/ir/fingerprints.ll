;; displaced
define internal void @displaced(ptr %c, i64 %home, i64 %j, i64 %slots) alwaysinline {
  %behind = icmp ult i64 %j, %home
  %round = select i1 %behind, i64 %slots, i64 0
  %apart = sub i64 %j, %home
  %distance = add i64 %apart, %round
  %most.p = getelementptr i64, ptr %c, i64 ${Context.DISPLACED}
  %most = load i64, ptr %most.p, align 8
  %now = call i64 @llvm.umax.i64(i64 %most, i64 %distance)
  store i64 %now, ptr %most.p, align 8
  ret void
}

;; insert
define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {
entry:
  %low = shl i64 %h, ${bits}${second_hash}
  %home = call i64 @home(i64 %h, i64 %slots)
  %who64 = zext i16 %who to i64
  %credit.new = sub i64 ${newest}, %who64
  %word = or i64 %low, %credit.new
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %claim ]
  %slot.at = mul i64 %j, ${width}
  %slot.p = getelementptr i64, ptr %table, i64 %slot.at
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %differ = xor i64 %slot, %word
  %maybe = icmp ult i64 %differ, ${credits}
  br i1 %maybe, label %${equal}, label %step${await_second}
step:
  !include table.next_slot
  br label %probe
known:
  %lower = icmp ult i64 %slot, %word
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umax ptr %slot.p, i64 %word monotonic
  br label %end
claim:
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %word acq_rel acquire
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %mine, label %probe
mine:${store_second}
  call void @displaced(ptr %c, i64 %home, i64 %j, i64 %slots)
  !include table.next_row
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %row = phi i64 [ %next, %mine ], [ %got, %reserve ]
  %fresh.at = mul i64 %row, ${words}
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at${copy}
  %row1 = add i64 %row, 1
  store i64 %row1, ptr %next.p, align 8
  br label %end
end:
  ret void
}

;; origin
define internal i64 @origin(i64 %word, i64 %i, i64 %n) alwaysinline {
  %low = lshr i64 %word, ${bits}
  %scaled = shl i64 %i, ${bits}
  %guess = udiv i64 %scaled, %n
  %above = add i64 %guess, 1
  %high1 = shl i64 %above, ${place}
  %h1 = or i64 %high1, %low
  %home1 = call i64 @home(i64 %h1, i64 %n)
  %inside = icmp ult i64 %above, ${credits}
  %reached1 = icmp ule i64 %home1, %i
  %take1 = and i1 %inside, %reached1
  %high0 = shl i64 %guess, ${place}
  %h0 = or i64 %high0, %low
  %home0 = call i64 @home(i64 %h0, i64 %n)
  %take0 = icmp ule i64 %home0, %i
  %below = sub i64 %guess, 1
  %high2 = shl i64 %below, ${place}
  %h2 = or i64 %high2, %low
  %or0 = select i1 %take0, i64 %h0, i64 %h2
  %h = select i1 %take1, i64 %h1, i64 %or0
  ret i64 %h
}

;; rehash
define void @rehash(ptr noalias %old, i64 %first, i64 %last, i64 %n,
                    ptr noalias %table, i64 %slots, ptr noalias %c) {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.at = mul i64 %i, ${width}
  %slot.p = getelementptr i64, ptr %old, i64 %slot.at
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:
  %h = call i64 @origin(i64 %slot, i64 %i, i64 %n)
  %home = call i64 @home(i64 %h, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ], [ %j, %claim ]
  %to.at = mul i64 %j, ${width}
  %to.p = getelementptr i64, ptr %table, i64 %to.at
  %to = load atomic i64, ptr %to.p monotonic, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %claim, label %step
step:
  !include table.next_slot
  br label %probe
claim:
  %swap = cmpxchg ptr %to.p, i64 0, i64 %slot monotonic monotonic
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %put, label %probe
put:${move_second}
  call void @displaced(ptr %c, i64 %home, i64 %j, i64 %slots)
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}

;; settle
define void @settle(ptr noalias %table, i64 %first, i64 %last, ptr noalias %counts) {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %at = mul i64 %i, ${width}
  %p = getelementptr i64, ptr %table, i64 %at
  %word = load i64, ptr %p, align 8
  %credit = and i64 %word, ${old}
  %minus = sub i64 %credit, 1
  %new = icmp ult i64 %minus, ${newest}
  br i1 %new, label %count, label %next
count:
  %who = sub i64 ${newest}, %credit
  %count.p = getelementptr i64, ptr %counts, i64 %who
  %had = load i64, ptr %count.p, align 8
  %now = add i64 %had, 1
  store i64 %now, ptr %count.p, align 8
  %settled = or i64 %word, ${old}
  store i64 %settled, ptr %p, align 8
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}

;; second_hash
  %b0 = call i64 @second_hash(ptr %state)
  %b = call i64 @llvm.umax.i64(i64 %b0, i64 1)

;; await_second
second:
  %second.p = getelementptr i64, ptr %slot.p, i64 1
  %other = load atomic i64, ptr %second.p acquire, align 8
  %written = icmp ne i64 %other, 0
  br i1 %written, label %compare, label %second
compare:
  %same = icmp eq i64 %other, %b
  br i1 %same, label %known, label %step

;; store_second
  %rest.p = getelementptr i64, ptr %slot.p, i64 1
  store atomic i64 %b, ptr %rest.p release, align 8

;; move_second
  %second.p = getelementptr i64, ptr %slot.p, i64 1
  %second = load i64, ptr %second.p, align 8
  %to2.p = getelementptr i64, ptr %to.p, i64 1
  store i64 %second, ptr %to2.p, align 8
