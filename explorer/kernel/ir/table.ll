;; next_slot
  %j0 = add i64 %j, 1
  %wraps = icmp eq i64 %j0, %slots
  %j1 = select i1 %wraps, i64 0, i64 %j0

;; next_row
  %next.p = getelementptr i64, ptr %c, i64 ${Context.ROW}
  %next = load i64, ptr %next.p, align 8
  %last.p = getelementptr i64, ptr %c, i64 ${Context.ROW_END}
  %last = load i64, ptr %last.p, align 8
  %none = icmp eq i64 %next, %last
  br i1 %none, label %reserve, label %write
reserve:
  %rows.p = getelementptr i64, ptr %s, i64 ${Shared.ROWS}
  %got = atomicrmw add ptr %rows.p, i64 ${row_block} monotonic
  %got.end = add i64 %got, ${row_block}

;; setup
  !load %states = %s ${Shared.STATES}
  !load %table = %s ${Shared.TABLE}
  !load %slots = %s ${Shared.SLOTS} i64
  !load %mask = %s ${Shared.MASK} i64
  !load %credit = %s ${Shared.CREDIT}
  !load %base = %s ${Shared.NEW_BASE} i64

;; insert
define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {
entry:
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %lost ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %differ = xor i64 %slot, %h
  %maybe = icmp ule i64 %differ, %mask
  br i1 %maybe, label %compare, label %step
compare:
  %number = and i64 %slot, %mask
  %row = sub i64 %number, 1
  %row.at = mul i64 %row, ${words}
  %row.p = getelementptr i64, ptr %states, i64 %row.at
  %equal = call i1 @same(ptr %row.p, ptr %state)
  br i1 %equal, label %known, label %step
step:
  !include table.next_slot
  br label %probe
known:
  %recent = icmp uge i64 %row, %base
  br i1 %recent, label %share, label %end
share:
  %old.p = getelementptr i16, ptr %credit, i64 %row
  %old = load atomic i16, ptr %old.p monotonic, align 2
  %lower = icmp ult i16 %who, %old
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umin ptr %old.p, i16 %who monotonic
  br label %end
claim:
  !include table.next_row
  store i64 %got, ptr %next.p, align 8
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %mine = phi i64 [ %next, %claim ], [ %got, %reserve ]
  %fresh.at = mul i64 %mine, ${words}
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at${copy}
  %credit.p = getelementptr i16, ptr %credit, i64 %mine
  store i16 %who, ptr %credit.p, align 2
  %mine1 = add i64 %mine, 1
  %new = or i64 %tag, %mine1
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %new acq_rel acquire
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %publish, label %lost
lost:
  br label %probe
publish:
  store i64 %mine1, ptr %next.p, align 8
  br label %end
end:
  ret void
}

;; insert_rows
define void @insert_rows(ptr noalias %s, ptr noalias %c, ptr noalias %rows, i64 %n, ptr noalias %whos) {
entry:
  !include table.setup
  !load %hashes = %c ${Context.HASHES}
  %upper = xor i64 %mask, -1
  br label %batch
batch:
  %from = phi i64 [ 0, %entry ], [ %to, %batch.next ]
  %to0 = add i64 %from, ${insert_batch}
  %to = call i64 @llvm.umin.i64(i64 %to0, i64 %n)
  %some = icmp ult i64 %from, %to
  br i1 %some, label %ahead, label %end
ahead:
  %i = phi i64 [ %from, %batch ], [ %i1, %ahead ]
  %i.at = mul i64 %i, ${words}
  %i.state = getelementptr i64, ptr %rows, i64 %i.at
  %i.h = call i64 @hash(ptr %i.state)
  %i.k = sub i64 %i, %from
  %i.p = getelementptr i64, ptr %hashes, i64 %i.k
  store i64 %i.h, ptr %i.p, align 8
  %i.tag = and i64 %i.h, %upper
  %i.home = call i64 @home(i64 %i.tag, i64 %slots)
  %i.slot.at = mul i64 %i.home, ${width}
  %i.slot = getelementptr i64, ptr %table, i64 %i.slot.at
  call void @llvm.prefetch.p0(ptr %i.slot, i32 1, i32 3, i32 1)
  %i1 = add i64 %i, 1
  %i.more = icmp ult i64 %i1, %to
  br i1 %i.more, label %ahead, label %loop
loop:
  %k = phi i64 [ %from, %ahead ], [ %k1, %loop ]
  %at = mul i64 %k, ${words}
  %state = getelementptr i64, ptr %rows, i64 %at
  %h.k = sub i64 %k, %from
  %h.p = getelementptr i64, ptr %hashes, i64 %h.k
  %h = load i64, ptr %h.p, align 8
  %who.p = getelementptr i16, ptr %whos, i64 %k
  %who = load i16, ptr %who.p, align 2
  call void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who,
                    ptr %states, ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base)
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %to
  br i1 %more, label %loop, label %batch.next
batch.next:
  br label %batch
end:
  ret void
}

;; rehash
define void @rehash(ptr noalias %old, i64 %first, i64 %last, i64 %old.mask,
                    ptr noalias %table, i64 %slots, i64 %mask) {
entry:
  %old.upper = xor i64 %old.mask, -1
  %upper = xor i64 %mask, -1
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.p = getelementptr i64, ptr %old, i64 %i
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:
  %row = and i64 %slot, %old.mask
  %tag = and i64 %slot, %upper
  %new = or i64 %tag, %row
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ]
  %to.p = getelementptr i64, ptr %table, i64 %j
  %to = load i64, ptr %to.p, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %put, label %step
step:
  !include table.next_slot
  br label %probe
put:
  store i64 %new, ptr %to.p, align 8
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}

;; relocate
define void @relocate(ptr noalias %s, i64 %from, i64 %to) {
entry:
  !include table.setup
  %source.at = mul i64 %from, ${words}
  %source = getelementptr i64, ptr %states, i64 %source.at
  %target.at = mul i64 %to, ${words}
  %target = getelementptr i64, ptr %states, i64 %target.at
  %h = call i64 @hash(ptr %source)
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  %from1 = add i64 %from, 1
  %to1 = add i64 %to, 1
  %old = or i64 %tag, %from1
  %new = or i64 %tag, %to1
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load i64, ptr %slot.p, align 8
  %found = icmp eq i64 %slot, %old
  br i1 %found, label %move, label %step
step:
  !include table.next_slot
  br label %probe
move:
  store i64 %new, ptr %slot.p, align 8${copy}
  %credit.from = getelementptr i16, ptr %credit, i64 %from
  %credit.moved = load i16, ptr %credit.from, align 2
  %credit.to = getelementptr i16, ptr %credit, i64 %to
  store i16 %credit.moved, ptr %credit.to, align 2
  ret void
}
