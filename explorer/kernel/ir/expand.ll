;; enter
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

;; expand
define i64 @expand(ptr noalias %states, i64 %first, i64 %last, ptr noalias %out, ptr noalias %counters,
                   ptr noalias %fired, ptr noalias %seen, ptr noalias %credits, i64 %thin) {
entry:
  !include planes.block_buffers
  %marks = alloca [${marks} x i64], align 64
  %dozing = alloca [${marks} x i64], align 64
  %any = alloca i64, align 8
  %uncounted = icmp eq ptr %fired, null
  %credited = icmp ne ptr %credits, null
  %sleeping = select i1 %credited, ptr %dozing, ptr @awake
  br label %next
next:
  %i = phi i64 [ %first, %entry ], [ %i1, %ready ]
  %at = phi ptr [ %out, %entry ], [ ${at}, %ready ]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %block, label %done
block:
  !include planes.cut_block
  %unused = sub i64 64, %n
  %valid = lshr i64 -1, %unused
  %position = sub i64 %i, %first
  br i1 %credited, label %credit, label %groups
credit:
  %a = phi i64 [ 0, %block ], [ %a1, %credit ]
  %n1 = sub i64 %n, 1
  %a.which = call i64 @llvm.umin.i64(i64 %a, i64 %n1)
  %a.state = add i64 %i, %a.which
  %a.p = getelementptr i16, ptr %credits, i64 %a.state
  %a.16 = load i16, ptr %a.p, align 2
  %a.who = zext i16 %a.16 to i64
  %a.at = mul i64 %a.who, ${sleep_words}
  %a.row = getelementptr i64, ptr @asleep, i64 %a.at
  %a.to = getelementptr i64, ptr %marks, i64 %a${rows}
  %a1 = add i64 %a, 1
  %a.more = icmp ult i64 %a1, ${lanes}
  br i1 %a.more, label %credit, label %doze
doze:
  call void @cut(ptr %marks, i64 ${sleep_words}, ptr %dozing)
  br label %groups
groups:
  %fired.p = getelementptr i64, ptr %fired, i64 %position
  %mine = select i1 %uncounted, ptr null, ptr %fired.p
  br i1 %uncounted, label %ready, label %clear
clear:
  %k = phi i64 [ 0, %groups ], [ %k1, %clear ]
  %clear.p = getelementptr i64, ptr %mine, i64 %k
  store i64 0, ptr %clear.p, align 8
  %k1 = add i64 %k, 1
  %k.more = icmp ult i64 %k1, %n
  br i1 %k.more, label %clear, label %ready
ready:
  store i64 0, ptr %any, align 8${calls}
  %enabled = load i64, ptr %any, align 8
  %dead = xor i64 %enabled, %valid
  %deaths = call i64 @llvm.ctpop.i64(i64 %dead)
  %old = load i64, ptr %counters, align 8
  %new = add i64 %old, %deaths
  store i64 %new, ptr %counters, align 8
  br label %next
done:
  %out.int = ptrtoint ptr %out to i64
  %at.int = ptrtoint ptr %at to i64
  %bytes = sub i64 %at.int, %out.int
  %records = udiv exact i64 %bytes, ${record_bytes}
  ret i64 %records
}
