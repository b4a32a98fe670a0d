;; check
define void @check(ptr noalias %states, i64 %first, i64 %last, ptr noalias %out, i64 %step) {
entry:
  !include planes.block_buffers
  %stride = mul i64 %step, ${checks}
  br label %next
next:
  %i = phi i64 [ %first, %entry ], [ %i1, %block ]
  %to = phi ptr [ %out, %entry ], [ %to1, %block ]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %block, label %done
block:
  !include planes.cut_block
${body}
  %to1 = getelementptr i64, ptr %to, i64 %stride
  br label %next
done:
  ret void
}

;; values
@values.leaf = internal constant [${room} x i64] [${places}]
@values.shift = internal constant [${room} x i64] [${shifts}]
define void @values(ptr noalias %states, i64 %first, i64 %last, ptr noalias %seen) {
entry:
  !include planes.block_buffers
  %found = alloca [${room} x ${vector}], align ${bytes}
  br label %clear
clear:
  %k = phi i64 [ 0, %entry ], [ %k1, %clear ]
  %clear.p = getelementptr ${vector}, ptr %found, i64 %k
  store ${vector} zeroinitializer, ptr %clear.p, align ${bytes}
  %k1 = add i64 %k, 1
  %k.more = icmp ult i64 %k1, ${room}
  br i1 %k.more, label %clear, label %next
next:
  %i = phi i64 [ %first, %clear ], [ %i1, %block ]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %block, label %done
block:
  !include planes.cut_block
${body}
  br label %next
done:
  %p = phi i64 [ 0, %next ], [ %p1, %add ]
  %p.more = icmp ult i64 %p, ${parts}
  br i1 %p.more, label %add, label %return
add:
  %all.p = getelementptr ${vector}, ptr %found, i64 %p
  %all = load ${vector}, ptr %all.p, align ${bytes}
  %some = call i${bits} @llvm.vector.reduce.or.${suffix}(${vector} %all)
  %wide = ${wide}
  %shift.p = getelementptr i64, ptr @values.shift, i64 %p
  %shift = load i64, ptr %shift.p, align 8
  %bits = shl i64 %wide, %shift
  %leaf.p = getelementptr i64, ptr @values.leaf, i64 %p
  %leaf = load i64, ptr %leaf.p, align 8
  %target = getelementptr i64, ptr %seen, i64 %leaf
  %had = load i64, ptr %target, align 8
  %has = or i64 %had, %bits
  store i64 %has, ptr %target, align 8
  %p1 = add i64 %p, 1
  br label %done
return:
  ret void
}
