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
  %row2.at = mul i64 %row2, $words
  %row2.p = getelementptr i64, ptr %states, i64 %row2.at
  %differ2 = xor i64 %slot2, %h2
  %maybe2 = icmp ule i64 %differ2, %mask
  %wanted2 = select i1 %maybe2, ptr %row2.p, ptr %slot2.p
  %tail2 = getelementptr i8, ptr %wanted2, i64 $last
  call void @llvm.prefetch.p0(ptr %wanted2, i32 0, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %tail2, i32 0, i32 3, i32 1)
  %k2n = add i64 %k2, 1
  %more2 = icmp ult i64 %k2n, %n
  br i1 %more2, label %peek, label %probe
