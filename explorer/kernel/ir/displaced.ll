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
