"""The hash of a packed state, as LLVM IR.

    internal i64 @hash(ptr row)
    internal i64 @home(i64 hash, i64 slots)
    void @hashes(ptr rows, i64 n, ptr out)

The hash folds 64 x 64 bit multiplications of pairs of salted words, like wyhash; the last multiplication
spreads every input bit over the top bits. The home slot of a hash in a table of n slots is
hash * n / 2^64. It grows with the hash, so a table of any size is in the order of hashes, and growing one
reads and writes sequentially.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.ir_text import ir

# Odd constants with about half of the bits set (digits of pi).
SALT = (
    0x243F6A8885A308D3,
    0x13198A2E03707345,
    0xA4093822299F31D1,
    0x082EFA98EC4E6C89,
    0x452821E638D01377,
    0xBE5466CF34E90C6D,
    0xC0AC29B7C97C50DD,
    0x3F84D5B5B5470917,
)


def hash_functions(words: int) -> str:
    """Return the IR of @hash, @home and @hashes, which computes the hashes of an array of rows."""
    return "\n".join(
        [ir("hash.fold"), hash_function("hash", words, 0), ir("hash.home"), ir("hash.hashes", words=words)]
    )


def hash_function(name: str, words: int, turn: int) -> str:
    """Return the IR of @name: folded multiplications of pairs of words, and one more to mix the top bits.

    turn: number of places by which the salts are rotated; each value yields a different hash.
    """
    salts = SALT[turn:] + SALT[:turn]
    lines = [f"define internal i64 @{name}(ptr %row) alwaysinline {{"]
    salted = []
    for k in range(words + words % 2):
        salt = salts[k % len(salts)] ^ (k // len(salts) << 32)
        if k < words:
            lines += [
                f"  %p{k} = getelementptr i64, ptr %row, i64 {k}",
                f"  %w{k} = load i64, ptr %p{k}, align 8",
                f"  %s{k} = xor i64 %w{k}, {salt}",
            ]
            salted.append(f"%s{k}")
        else:
            salted.append(str(salt))
    total = str(salts[7])
    for k in range(0, len(salted), 2):
        lines += [
            f"  %f{k} = call i64 @fold(i64 {salted[k]}, i64 {salted[k + 1]})",
            f"  %h{k} = xor i64 {total}, %f{k}",
        ]
        total = f"%h{k}"
    return "\n".join([*lines, f"  %r = call i64 @fold(i64 {total}, i64 {salts[6]})", "  ret i64 %r", "}"])
