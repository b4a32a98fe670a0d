"""The lowered model as LLVM IR, and as machine code."""
