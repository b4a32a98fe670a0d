"""The native kernel: the lowered model as LLVM IR and as machine code."""
