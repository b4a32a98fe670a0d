"""Compilation of LLVM IR to object code, all modules of a kernel in parallel.

LLVM takes about a second per megabyte of IR, and its Python binding compiles one module at a time. So a
large kernel consists of several modules, and helper processes share the work: each runs this file as a
program, reads a JSON list of modules from stdin, and writes for each module the length of its object code
(8 bytes, little endian) and the code. This process compiles whatever a helper fails to deliver.

Few passes run on the IR: the expression graph is already simplified and free of repetition, so all that
remains is to inline the small functions of the search loop. This compiles a kernel in about half the time
of -O1, and the kernel is just as fast (measured on the three-broker model). A module that begins with `SIMPLIFIED`
does without LLVM's combination of machine operations, too, which takes a third of the rest.

During a search, `compiled_by_helpers` leaves all modules to helpers. A process of a pool, as in a sweep, sets
`ALONE` in its environment and compiles without helpers.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import llvmlite.binding as llvm

from elrcheck.base.runner.processors import processors

ALONE = "ELRCHECK_COMPILE_ALONE"
Helper: TypeAlias = "subprocess.Popen[bytes]"
SIMPLIFIED = "; simplified\n"
"""First line of a module in which few operations can be combined; code that runs for every state should be."""
UNCOMBINED = "-combiner-disabled"
"""LLVM's option for that; versions before `SINCE` do not know it, and end the process."""
SINCE = (22,)
HELP = 600_000
"""Characters of IR that make a helper worthwhile, which takes 0.2 s to start."""


def processor() -> tuple[str, str]:
    """Return the name and the features of this processor, as LLVM spells them."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine() -> Any:
    """Return LLVM's code generator for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = processor()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=1, jit=True, reloc="static", codemodel="jitdefault"
    )


def object_code(text: str, machine: Any) -> bytes:
    """Compile one module to object code."""
    module = llvm.parse_assembly(text)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    if llvm.llvm_version_info >= SINCE and machine.triple.startswith("x86_64"):
        llvm.set_option("", f"{UNCOMBINED}={int(text.startswith(SIMPLIFIED))}")
    code: bytes = machine.emit_object(module)
    return code


def object_codes(texts: Sequence[str], machine: Any, processes: int | None = None) -> list[bytes]:
    """Compile each module to object code. processes: maximum number; by default one per processor."""
    available = processors() if helpers_allowed() else 1
    useful = min(len(texts), 1 + sum(map(len, texts)) // HELP, processes or available)
    shares = _shares(texts, useful)
    compiled: dict[int, bytes] = {}
    if len(shares) > 1:
        compiled = _with_helpers(texts, shares, machine)
    return [compiled[k] if k in compiled else object_code(text, machine) for k, text in enumerate(texts)]


def helpers_allowed() -> bool:
    """Return whether other processes may share the work."""
    return not os.environ.get(ALONE)


def compiled_by_helpers(texts: Sequence[str], helpers: list[Helper]) -> list[bytes] | None:
    """Compile each module in helper processes; return None if one of them fails or is killed.

    helpers: receives the processes, so that another thread can kill them.
    """
    compiled: dict[int, bytes] = {}
    shares = [share for share in _shares(texts, min(len(texts), processors())) if share]
    for _ in shares:
        helper = _start()
        if helper is not None:
            helpers.append(helper)
    if len(helpers) < len(shares):
        return None
    for thread in _ask_all(helpers, shares, texts, compiled):
        thread.join()
    return [compiled[k] for k in range(len(texts))] if len(compiled) == len(texts) else None


def _shares(texts: Sequence[str], count: int) -> list[list[int]]:
    """Divide the texts (by index) into `count` shares of about the same length."""
    shares: list[list[int]] = [[] for _ in range(count)]
    lengths = [0] * count
    for k in sorted(range(len(texts)), key=lambda k: -len(texts[k])):
        least = lengths.index(min(lengths))
        shares[least].append(k)
        lengths[least] += len(texts[k])
    return shares


def _with_helpers(texts: Sequence[str], shares: list[list[int]], machine: Any) -> dict[int, bytes]:
    """Compile the first share here, the others in helpers; return the code by index, without that of failed helpers."""
    helpers = [helper for share in shares[1:] if (helper := _start()) is not None]
    compiled: dict[int, bytes] = {}
    try:
        threads = _ask_all(helpers, shares[1:], texts, compiled)
        compiled.update({k: object_code(texts[k], machine) for k in shares[0]})
        for thread in threads:
            thread.join()
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()
    return compiled


def _ask_all(
    helpers: Sequence[Helper], shares: Sequence[list[int]], texts: Sequence[str], compiled: dict[int, bytes]
) -> list[threading.Thread]:
    """Start a thread for each helper, which adds the code of its share to `compiled`."""

    def ask(helper: Helper, share: list[int]) -> None:
        with contextlib.suppress(OSError, ValueError):
            compiled.update(zip(share, _ask(helper, [texts[k] for k in share]), strict=False))

    pairs = zip(helpers, shares, strict=False)
    threads = [threading.Thread(target=ask, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    return threads


def _start() -> Helper | None:
    command = [sys.executable, "-P", "-m", "elrcheck.explorer.kernel.object_code"]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None


def _ask(helper: Helper, texts: list[str]) -> list[bytes]:
    """Send modules to a helper; return the object code it delivered, a prefix of the list if it failed."""
    answer, _ = helper.communicate(json.dumps(texts).encode())
    if helper.returncode != 0:
        return []
    codes, at = [], 0
    while at < len(answer):
        size = int.from_bytes(answer[at : at + 8], "little")
        codes.append(answer[at + 8 : at + 8 + size])
        at += 8 + size
    return codes


def main() -> None:
    """Run as a helper process."""
    machine = target_machine()
    for text in json.load(sys.stdin.buffer):
        code = object_code(text, machine)
        sys.stdout.buffer.write(len(code).to_bytes(8, "little") + code)


if __name__ == "__main__":
    main()
