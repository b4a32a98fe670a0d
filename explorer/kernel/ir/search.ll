;; explore
define i64 @explore(ptr noalias %s, ptr noalias %c) {
entry:
  !include table.setup
  !load %stop = %s ${Shared.STOP} i64
  !load %limit = %s ${Shared.LIMIT} i64
  !load %margin = %s ${Shared.MARGIN} i64
  !load %slice = %s ${Shared.SLICE} i64
  !load %recs = %c ${Context.RECORDS}
  !load %hashes = %c ${Context.HASHES}
  !load %counters = %c ${Context.COUNTERS}
  !load %frontier = %s ${Shared.FRONTIER}
  !load %before = %s ${Shared.FRONTIER_CREDIT}
  !load %thin = %s ${Shared.THIN} i64
  %looked.p = getelementptr i64, ptr %c, i64 ${Context.LOOKED_UP}
  %seen = getelementptr i64, ptr %c, i64 ${Context.FLAGS}
  %upper = xor i64 %mask, -1
  %at.p = getelementptr i64, ptr %c, i64 ${Context.AT}
  %end.p = getelementptr i64, ptr %c, i64 ${Context.END}
  %cursor.p = getelementptr i64, ptr %s, i64 ${Shared.CURSOR}
  %rows.p = getelementptr i64, ptr %s, i64 ${Shared.ROWS}
  br label %next
next:
  %at = load i64, ptr %at.p, align 8
  %end = load i64, ptr %end.p, align 8
  %left = icmp ult i64 %at, %end
  br i1 %left, label %room, label %take
take:
  %from = atomicrmw add ptr %cursor.p, i64 %slice monotonic
  %over = icmp uge i64 %from, %stop
  br i1 %over, label %finished, label %slice.new
slice.new:
  %to0 = add i64 %from, %slice
  %to = call i64 @llvm.umin.i64(i64 %to0, i64 %stop)
  store i64 %from, ptr %at.p, align 8
  store i64 %to, ptr %end.p, align 8
  br label %room
room:
  %a = phi i64 [ %at, %next ], [ %from, %slice.new ]
  %e = phi i64 [ %end, %next ], [ %to, %slice.new ]
  %used = load atomic i64, ptr %rows.p monotonic, align 8
  %need = add i64 %used, %margin
  %fits = icmp ule i64 %need, %limit
  br i1 %fits, label %chunk, label %full
chunk:
  %z0 = add i64 %a, ${chunk}
  %z = call i64 @llvm.umin.i64(i64 %z0, i64 %e)
  %n = call i64 @expand(ptr %frontier, i64 %a, i64 %z, ptr %recs, ptr %counters, ptr null,
                        ptr %seen, ptr %before, i64 %thin)
  %looked0 = load i64, ptr %looked.p, align 8
  %looked1 = add i64 %looked0, %n
  store i64 %looked1, ptr %looked.p, align 8
  %some = icmp ne i64 %n, 0
  br i1 %some, label %hash, label %done
hash:
  %k1 = phi i64 [ 0, %chunk ], [ %k1n, %hash ]
  %rec1.at = mul i64 %k1, ${size}
  %rec1 = getelementptr i64, ptr %recs, i64 %rec1.at${least}
  %h1 = call i64 @hash(ptr %rec1)
  %hash1.p = getelementptr i64, ptr %hashes, i64 %k1
  store i64 %h1, ptr %hash1.p, align 8
  %tag1 = and i64 %h1, %upper
  %home1 = call i64 @home(i64 %tag1, i64 %slots)
  %slot1.at = mul i64 %home1, ${width}
  %slot1 = getelementptr i64, ptr %table, i64 %slot1.at
  call void @llvm.prefetch.p0(ptr %slot1, i32 0, i32 3, i32 1)
  %k1n = add i64 %k1, 1
  %more1 = icmp ult i64 %k1n, %n
  br i1 %more1, label %hash, label %${after_hash}${peek}
probe:
  %k3 = phi i64 [ 0, %${before_probe} ], [ %k3n, %probe ]
  %rec3.at = mul i64 %k3, ${size}
  %rec3 = getelementptr i64, ptr %recs, i64 %rec3.at
  %origin.p = getelementptr i64, ptr %rec3, i64 ${origin}
  %origin = load i64, ptr %origin.p, align 8
  %who = trunc i64 %origin to i${instance_bits}
  %hash3.p = getelementptr i64, ptr %hashes, i64 %k3
  %h3 = load i64, ptr %hash3.p, align 8
  call void @insert(ptr %s, ptr %c, ptr %rec3, i64 %h3, i16 %who,
                    ptr %states, ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base)
  %k3n = add i64 %k3, 1
  %more3 = icmp ult i64 %k3n, %n
  br i1 %more3, label %probe, label %done
done:
  store i64 %z, ptr %at.p, align 8
  br label %next
full:
  ret i64 0
finished:
  ret i64 1
}

;; peek
peek:
  %k2 = phi i64 [ 0, %hash ], [ %k2n, %peek ]
  %hash2.p = getelementptr i64, ptr %hashes, i64 %k2
  %h2 = load i64, ptr %hash2.p, align 8
  %tag2 = and i64 %h2, %upper
  %home2 = call i64 @home(i64 %tag2, i64 %slots)
  %slot2.p = getelementptr i64, ptr %table, i64 %home2
  %slot2 = load atomic i64, ptr %slot2.p monotonic, align 8
  %number2 = and i64 %slot2, %mask
  %row2 = sub i64 %number2, 1
  %row2.at = mul i64 %row2, ${words}
  %row2.p = getelementptr i64, ptr %states, i64 %row2.at
  %differ2 = xor i64 %slot2, %h2
  %maybe2 = icmp ule i64 %differ2, %mask
  %wanted2 = select i1 %maybe2, ptr %row2.p, ptr %slot2.p
  %tail2 = getelementptr i8, ptr %wanted2, i64 ${last}
  call void @llvm.prefetch.p0(ptr %wanted2, i32 0, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %tail2, i32 0, i32 3, i32 1)
  %k2n = add i64 %k2, 1
  %more2 = icmp ult i64 %k2n, %n
  br i1 %more2, label %peek, label %probe
