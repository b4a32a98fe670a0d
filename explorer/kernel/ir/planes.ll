;; columns
define internal void @columns(ptr noalias %rows, i64 %n, ptr noalias %words) {
entry:
  %last = sub i64 %n, 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %which = call i64 @llvm.umin.i64(i64 %i, i64 %last)
  %at = mul i64 %which, ${words}
  %row = getelementptr i64, ptr %rows, i64 %at
  %to = getelementptr i64, ptr %words, i64 %i${moves}
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, ${lanes}
  br i1 %more, label %loop, label %end
end:
  ret void
}

;; cut
define internal void @cut(ptr noalias %words, i64 %count, ptr noalias %planes) {
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %from.at = mul i64 %k, ${lanes}
  %from = getelementptr i64, ptr %words, i64 %from.at
  %planes.at = mul i64 %k, ${plane_bytes}
  %mine = getelementptr i8, ptr %planes, i64 %planes.at
  br label %loop
loop:
  %i = phi i64 [ 0, %each ], [ %i1, %loop ]
  %word.p = getelementptr i64, ptr %from, i64 %i
  %word = load <8 x i64>, ptr %word.p, align 8
  %to.at = mul i64 %i, ${size}
  %to = getelementptr i8, ptr %mine, i64 %to.at${moves}
  %i1 = add i64 %i, 8
  %more = icmp ult i64 %i1, ${lanes}
  br i1 %more, label %loop, label %next
next:
  %k1 = add i64 %k, 1
  %another = icmp ult i64 %k1, %count
  br i1 %another, label %each, label %end
end:
  ret void
}

;; block_buffers
  %words = alloca [${block_words} x i64], align 64
  %planes = alloca [${block_words} x i64], align 64

;; cut_block
  %left = sub i64 %last, %i
  %n = call i64 @llvm.umin.i64(i64 %left, i64 ${lanes})
  %i1 = add i64 %i, %n
  %row.at = mul i64 %i, ${words}
  %row = getelementptr i64, ptr %states, i64 %row.at
  call void @columns(ptr %row, i64 %n, ptr %words)
  call void @cut(ptr %words, i64 ${words}, ptr %planes)
