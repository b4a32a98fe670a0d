"""Machine code from LLVM IR, with a cache on disk.

A kernel consists of one or more modules (compiled by `object_code`), which are linked when loaded. Object
code is cached under the SHA-256 of the IR, the llvmlite version and the processor. Every entry carries a
checksum; a damaged entry is ignored and compiled again. Nothing else is read from the cache, and files are
written atomically.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from elrcheck.base.atomic import write_bytes
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import EnvironmentFault
from elrcheck.explorer.kernel.object_code import object_codes, processor, target_machine

MAGIC = b"elrcheck-kernel/1\n"
PIPELINE = "always-inline,sroa,simplifycfg;O1"  # part of the key of a cached kernel


def default_cache() -> Path:
    """Return the folder of cached kernels."""
    return cache_directory(os.environ) / "kernels"


class KernelCache:
    """Object code by key. If the folder is not writable, kernels are merely compiled again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, key: str) -> bytes | None:
        try:
            data = (self.folder / f"{key}.o").read_bytes()
        except OSError:
            return None
        head = len(MAGIC) + 32
        body = data[head:]
        if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : head] != hashlib.sha256(body).digest():
            return None
        return body

    def store(self, key: str, body: bytes) -> None:
        with contextlib.suppress(EnvironmentFault):
            write_bytes(self.folder / f"{key}.o", MAGIC + hashlib.sha256(body).digest() + body)


@dataclass
class Native:
    """Callable native functions; keeps the machine code alive. Calls release Python's global lock."""

    functions: dict[str, Callable[..., int]]
    engine: object
    seconds: float
    cached: bool


def compile_modules(texts: Sequence[str], signatures: Mapping[str, int], cache: KernelCache | None) -> Native:
    """Compile modules, which may call each other, for this processor.

    signatures: the functions to call from Python, each with the number of its 64-bit arguments.
    """
    started = time.perf_counter()
    machine = target_machine()
    keys = [_key(text) for text in texts]
    codes = [cache.load(key) if cache is not None else None for key in keys]
    missing = [k for k, code in enumerate(codes) if code is None]
    for k, made in zip(missing, object_codes([texts[k] for k in missing], machine), strict=True):
        codes[k] = made
        if cache is not None:
            cache.store(keys[k], made)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for code in codes:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    functions: dict[str, Callable[..., int]] = {}
    for name, count in signatures.items():
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *([ctypes.c_int64] * count))
        functions[name] = kind(engine.get_function_address(name))
    return Native(functions, engine, time.perf_counter() - started, not missing)


def _key(text: str) -> str:
    identity = "\0".join((llvmlite.__version__, PIPELINE, *processor(), llvm.get_default_triple(), text))
    return hashlib.sha256(identity.encode()).hexdigest()
