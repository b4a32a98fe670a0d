"""The quick kernel of a program, as modules of LLVM IR: the functions of any kernel, around the interpreter.

The optimised kernel has code for every instance and check; this one has a table of instructions. So little of it is
compiled, and most of that is the same for all programs. It is slower: see docs/engine.md.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.check_ir import check_loop, state_checks, values_function
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.expand_ir import DECLARED, declared, expand_driver
from elrcheck.explorer.kernel.group_ir import ARGUMENTS
from elrcheck.explorer.kernel.quick.instructions import Instructions, check_instructions, expand_instructions
from elrcheck.explorer.kernel.quick.interpreter_ir import Interpreter, constant_bytes
from elrcheck.explorer.kernel.word_layout import WordLayout
from elrcheck.lang.lowering.program import Program

KINDS = ", ".join(part.split()[0] for part in ARGUMENTS.split(", "))
VALUES = ", ".join(f"{part.split()[0]} {part.split()[-1]}" for part in ARGUMENTS.split(", "))
INTERPRET = f"declare ptr @interpret(ptr, ptr, i64, {KINDS})"
EXPAND = "declare i64 @expand(ptr, i64, i64, ptr, ptr, ptr, ptr, ptr, i64)"


def quick_modules(program: Program, layout: WordLayout, lanes: Lanes, search: list[str]) -> list[list[str]]:
    """Return the parts of each module, without the declarations that all modules have.

    search: the functions that do not depend on the program. Raise NotInterpreted if the program is too large.
    """
    steps, checks = expand_instructions(program, layout, lanes), check_instructions(program, layout, lanes)
    return [
        [EXPAND, *search],
        [
            expand_driver(program, layout, lanes, 1),
            values_function(layout, lanes),
            INTERPRET,
            declared(0),
            "@check.code = external constant i8",
            _check(program, layout, lanes, checks),
        ],
        [DECLARED, Interpreter(lanes).text()],
        [
            INTERPRET,
            constant_bytes("expand.code", steps.code),
            constant_bytes("check.code", checks.code),
            _places(steps),
            f"define ptr @expand.0({ARGUMENTS}) {{",
            f"  %end = call ptr @interpret(ptr @expand.code, ptr @places, i64 {steps.registers}, {VALUES})",
            "  ret ptr %end",
            "}",
        ],
    ]


def _places(steps: Instructions) -> str:
    numbers = ", ".join(f"i64 {place}" for place in steps.places) or "i64 0"
    return f"@places = internal constant [{max(1, len(steps.places))} x i64] [{numbers}]"


def _check(program: Program, layout: WordLayout, lanes: Lanes, checks: Instructions) -> str:
    block = {"%words": "%words", "%planes": "%planes", "%out": "%to"}
    values = []
    for part in ARGUMENTS.split(", "):
        kind, name = part.split()[0], part.split()[-1]
        values.append(f"{kind} {block.get(name, 'null' if kind == 'ptr' else '0')}")
    call = f"call ptr @interpret(ptr @check.code, ptr null, i64 {checks.registers}, {', '.join(values)})"
    return check_loop(len(state_checks(program)), layout.words, lanes, f"  %checked = {call}")
