"""Machine code from LLVM IR, with a cache on disk.

A kernel consists of one or more modules (compiled by `object_code`), which are linked when loaded. Object
code is cached under the SHA-256 of the IR, the llvmlite version and the processor. If a digest names the program
(`kept_program`), the cache also lists its modules under that name, so that they are found without writing their IR.
"""

from __future__ import annotations

import ctypes
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from elrcheck.base.kept.store import Store
from elrcheck.explorer.kernel.object_code import object_codes, processor, target_machine

PIPELINE = "always-inline,sroa,simplifycfg;O1"  # part of the key of a cached kernel


class KernelCache:
    """Object code by key, and the keys of a kernel's modules by its name, in the store of the cache folder."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._codes = Store("kernels", bytes, environ=environ)
        self._lists: Store[tuple[str, ...]] = Store("modules", tuple[str, ...], environ=environ)

    def load(self, key: str) -> bytes | None:
        """Return the object code of a module, whose checksum has been verified; None if it is missing."""
        entry = self._codes.get(key)
        return None if entry is None else entry.value

    def store(self, key: str, body: bytes) -> None:
        self._codes.put(key, body)

    def listed(self, name: str) -> list[bytes] | None:
        """Return the object code of all modules of a named kernel; None if a part is missing."""
        entry = self._lists.get(name)
        codes = [] if entry is None else [self.load(key) for key in entry.value]
        whole = [code for code in codes if code is not None]
        return whole if whole and len(whole) == len(codes) else None

    def list_modules(self, name: str, keys: Sequence[str]) -> None:
        self._lists.put(name, tuple(keys))

    def note_worthwhile(self, name: str) -> None:
        """Note that the kernel of this name is worth compiling, by an empty list of modules."""
        self._lists.put(name, ())

    def is_worthwhile(self, name: str) -> bool:
        entry = self._lists.get(name)
        return entry is not None and not entry.value


@dataclass(frozen=True)
class Native:
    """Callable native functions, which take addresses and counts as integers and release Python's global lock.

    engine: keeps the machine code alive. keys: of the modules in the cache; empty if the kernel was found by name.
    """

    functions: dict[str, Callable[..., int]]
    engine: object
    seconds: float
    cached: bool
    keys: tuple[str, ...]


def compile_modules(
    texts: Sequence[str],
    signatures: Mapping[str, int],
    cache: KernelCache | None,
    processes: int | None = None,
    compiled: Sequence[bytes] | None = None,
) -> Native:
    """Compile modules, which may call each other, for this processor.

    signatures: the functions to call from Python, each with the number of its 64-bit arguments. processes: at most
    this many share the work. compiled: object code to use for modules that the cache lacks.
    """
    started = time.perf_counter()
    machine = target_machine()
    keys = [_key(text) for text in texts]
    codes = [cache.load(key) if cache is not None else None for key in keys]
    missing = [k for k, code in enumerate(codes) if code is None]
    if compiled is None:
        fresh = object_codes([texts[k] for k in missing], machine, processes)
    else:
        fresh = [compiled[k] for k in missing]
    for k, code in zip(missing, fresh, strict=True):
        codes[k] = code
        if cache is not None:
            cache.store(keys[k], code)
    functions, engine = _linked([code for code in codes if code is not None], signatures, machine)
    return Native(functions, engine, time.perf_counter() - started, not missing, tuple(keys))


def cached_modules(name: str, signatures: Mapping[str, int], cache: KernelCache) -> Native | None:
    """Return the functions of a named kernel; None unless all of its object code is in the cache."""
    started = time.perf_counter()
    codes = cache.listed(name)
    if codes is None:
        return None
    functions, engine = _linked(codes, signatures, target_machine())
    return Native(functions, engine, time.perf_counter() - started, True, ())


def _linked(
    codes: Sequence[bytes], signatures: Mapping[str, int], machine: Any
) -> tuple[dict[str, Callable[..., int]], object]:
    """Link object code; return its functions, and the engine that keeps them alive."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for code in codes:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    functions: dict[str, Callable[..., int]] = {}
    for name, count in signatures.items():
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *([ctypes.c_int64] * count))
        functions[name] = kind(engine.get_function_address(name))
    return functions, engine


def compiler_identity() -> tuple[str, ...]:
    """Return all that object code depends on besides its IR."""
    return (llvmlite.__version__, PIPELINE, *processor(), llvm.get_default_triple())


def _key(text: str) -> str:
    return hashlib.sha256("\0".join((*compiler_identity(), text)).encode()).hexdigest()
