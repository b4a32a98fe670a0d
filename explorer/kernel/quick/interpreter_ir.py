"""An interpreter of instructions over blocks of states, as LLVM IR: machine code that need not be compiled per program.

    ptr @interpret(ptr code, ptr places, i64 room, ptr words, ptr planes, ptr asleep, i64 valid, i64 position, i64 thin,
                   ptr out, ptr counters, ptr seen, ptr any, ptr fired)

carries out `code` (`instructions.py`) from its first instruction to END and returns the place after the last record.
places: numbers of planes. room: how many registers it needs. The other arguments are those of a group of instances
(`group_ir`). A register is a vector with a lane for each state; a boolean is 0 or 1. A mask register is a mask of
lanes: number 0 is `valid`, number 1 is empty.

An instruction is `FIELDS` numbers of 32 bits: the operation, then d, a, b, c and e, whose meaning `Op` says. All of
them are total, as the nodes are. The text depends on the lanes alone, so the machine code is the same for almost all
programs.
"""

from __future__ import annotations

from enum import IntEnum

from elrcheck.explorer.kernel.emit import FunctionLines, Lanes
from elrcheck.explorer.kernel.group_ir import ARGUMENTS
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS
from elrcheck.lang.lowering.nodes import MAX_BIT

FIELDS = 6
MASKS = 256
"""Mask registers."""
PLANES = 512
"""Planes that an instance can change: as many as a state of 32 kilobits has."""


class Op(IntEnum):
    """R: registers, M: masks, V: the planes of the states, F: changed planes. A lower-case field is a number."""

    END = 0
    CONST = 1  # Rd = a
    LOAD = 2  # Rd = Va
    ADD = 3  # Rd = Ra + Rb, and so on
    SUB = 4
    DIV = 5
    MOD = 6
    MIN = 7
    MAX = 8
    BAND = 9
    BOR = 10
    ANDNOT = 11
    LT = 12
    EQ = 13
    NOT = 14  # Rd = 1 - Ra, a boolean
    ITE = 15  # Rd = Rb where Ra, else Rc
    CARD = 16
    SHL1 = 17
    BIT = 18
    ADDI = 19  # Rd = Ra + b
    ANDI = 20  # Rd = Ra & b
    SHRI = 21  # Rd = Ra >> b, without sign
    ORSHL = 22  # Rd = Ra | Rb << c
    FIELD = 23  # Rd = (Va >> b & c) + e
    GUARD = 24  # Md = Mb where Ra; on to instruction c if no lane is left
    ENTER = 25  # @enter: counter a, Mb
    CUT = 26  # count in counter a the lanes of Mb that are not in Mc
    BOUND = 27  # Md = Md without the lanes of Mb where Ra is above c; these are counted in counter e
    PUT = 28  # Fd = Ra, in place of Vb
    RECORD = 29  # @records: instance a, Mb, c planes with the places from e on
    FLAG = 30  # @flag: word a, bit b, Mc where Rd
    HIT = 31  # word d of `out`: add the lanes where Ra
    MOVE = 32  # Md = Ma
    SKIP = 33  # on to instruction c if Ra is in no lane of Mb


class Interpreter(FunctionLines):
    """Writes @interpret, with one case for each operation."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__()
        self.lanes, self.kind, self.flag = lanes, lanes.number, lanes.flag

    # -- instructions

    def field(self, name: str) -> str:
        """Return a field of the instruction, with its sign."""
        where = self.let(f"getelementptr i32, ptr %at, i64 {' dabce'.index(name)}")
        return self.let(f"sext i32 {self.let(f'load i32, ptr {where}, align 4')} to i64")

    def vector(self, base: str, name: str) -> str:
        """Return the place of a vector whose number is in a field."""
        return self.let(f"getelementptr {self.kind}, ptr {base}, i64 {self.field(name)}")

    def load(self, where: str) -> str:
        return self.let(f"load {self.kind}, ptr {where}, align {self.lanes.bytes}")

    def register(self, name: str) -> str:
        return self.load(self.vector("%registers", name))

    def put(self, value: str) -> None:
        self.do(f"store {self.kind} {value}, ptr {self.vector('%registers', 'd')}, align {self.lanes.bytes}")

    def splat(self, number: str) -> str:
        """Return a number, of 64 bits, in all lanes."""
        part = f"i{self.lanes.bits}"
        small = number if self.lanes.bits == 64 else self.let(f"trunc i64 {number} to {part}")
        first = self.let(f"insertelement {self.kind} poison, {part} {small}, i64 0")
        return self.let(
            f"shufflevector {self.kind} {first}, {self.kind} poison, <{self.lanes.count} x i32> zeroinitializer"
        )

    def bits(self, flag: str) -> str:
        """Return a vector of booleans as a mask."""
        count = self.lanes.count
        mask = self.let(f"bitcast {self.flag} {flag} to i{count}")
        return mask if count == 64 else self.let(f"zext i{count} {mask} to i64")

    def holds(self, name: str) -> str:
        """Return the mask of the lanes in which a register is not 0."""
        return self.bits(self.let(f"icmp ne {self.kind} {self.register(name)}, zeroinitializer"))

    def mask_place(self, name: str) -> str:
        return self.let(f"getelementptr i64, ptr %masks, i64 {self.field(name)}")

    def mask(self, name: str) -> str:
        return self.let(f"load i64, ptr {self.mask_place(name)}, align 8")

    def put_mask(self, value: str, name: str = "d") -> None:
        self.do(f"store i64 {value}, ptr {self.mask_place(name)}, align 8")

    def add_to_counter(self, name: str, mask: str) -> None:
        amount = self.let(f"call i64 @llvm.ctpop.i64(i64 {mask})")
        where = self.let(f"getelementptr i64, ptr %counters, i64 {self.field(name)}")
        total = self.let(f"add i64 {self.let(f'load i64, ptr {where}, align 8')}, {amount}")
        self.do(f"store i64 {total}, ptr {where}, align 8")

    def truth(self, condition: str) -> str:
        return self.let(f"zext {self.flag} {condition} to {self.kind}")

    # -- the function

    def text(self) -> str:
        size = 4 * FIELDS
        where = self.let(f"mul i64 {self.field('c')}, {size}")
        self.do(f"%target = getelementptr i8, ptr %code, i64 {where}")
        self.do("br label %run")
        for op in Op:
            if op is not Op.END:
                self.start(f"do.{op.name.lower()}")
                self.case(op)
        self.start("do.end")
        self.do(f"ret ptr {self.let('load ptr, ptr %record, align 8')}")
        return ir(
            "interpreter.interpret",
            arguments=ARGUMENTS,
            vector=self.kind,
            bytes=self.lanes.bytes,
            planes=PLANES,
            masks=MASKS,
            instance_bits=INSTANCE_BITS,
            size=size,
            cases="\n    ".join(f"i32 {op:d}, label %do.{op.name.lower()}" for op in Op),
            operations="\n".join(self.lines),
        )

    def case(self, op: Op) -> None:
        """Write what an operation does; it ends with a branch."""
        match op:
            case Op.GUARD:
                left = self.let(f"and i64 {self.mask('b')}, {self.holds('a')}")
                self.put_mask(left)
                self.do(f"br i1 {self.let(f'icmp eq i64 {left}, 0')}, label %jump, label %next")
                return
            case Op.SKIP:
                left = self.let(f"and i64 {self.mask('b')}, {self.holds('a')}")
                self.do(f"br i1 {self.let(f'icmp eq i64 {left}, 0')}, label %jump, label %next")
                return
            case Op.ENTER:
                where = self.let(f"getelementptr i64, ptr %counters, i64 {self.field('a')}")
                self.do(f"call void @enter(ptr {where}, i64 {self.mask('b')}, ptr %any, ptr %fired)")
            case Op.CUT:
                rest = self.let(f"xor i64 {self.mask('c')}, -1")
                self.add_to_counter("a", self.let(f"and i64 {self.mask('b')}, {rest}"))
            case Op.MOVE:
                self.put_mask(self.mask("a"))
            case Op.BOUND:
                most = self.splat(self.field("c"))
                fits = self.bits(self.let(f"icmp ule {self.kind} {self.register('a')}, {most}"))
                out = self.let(f"and i64 {self.mask('b')}, {self.let(f'xor i64 {fits}, -1')}")
                self.add_to_counter("e", out)
                self.put_mask(self.let(f"and i64 {self.mask('d')}, {self.let(f'xor i64 {out}, -1')}"))
            case Op.PUT:
                new, old = self.register("a"), self.load(self.vector("%planes", "b"))
                self.do(f"store {self.kind} {new}, ptr {self.vector('%fresh', 'd')}, align {self.lanes.bytes}")
                same = self.bits(self.let(f"icmp eq {self.kind} {new}, {old}"))
                idle = self.let(f"and i64 {self.let('load i64, ptr %idle, align 8')}, {same}")
                self.do(f"store i64 {idle}, ptr %idle, align 8")
            case Op.RECORD:
                self.record()
            case Op.FLAG:
                self.note()
            case Op.HIT:
                where = self.let(f"getelementptr i64, ptr %out, i64 {self.field('d')}")
                hits = self.let(f"or i64 {self.let(f'load i64, ptr {where}, align 8')}, {self.holds('a')}")
                self.do(f"store i64 {hits}, ptr {where}, align 8")
            case _:
                self.put(self.value(op))
        self.do("br label %next")

    def value(self, op: Op) -> str:
        """Return the vector that an operation computes."""
        kind, lanes = self.kind, self.lanes
        match op:
            case Op.CONST:
                return self.splat(self.field("a"))
            case Op.LOAD:
                return self.load(self.vector("%planes", "a"))
            case Op.FIELD:
                whole = self.load(self.vector("%planes", "a"))
                moved = self.let(f"lshr {kind} {whole}, {self.splat(self.field('b'))}")
                part = self.let(f"and {kind} {moved}, {self.splat(self.field('c'))}")
                return self.let(f"add {kind} {part}, {self.splat(self.field('e'))}")
            case Op.ADDI | Op.ANDI | Op.SHRI:
                word = {Op.ADDI: "add", Op.ANDI: "and", Op.SHRI: "lshr"}[op]
                return self.let(f"{word} {kind} {self.register('a')}, {self.splat(self.field('b'))}")
            case Op.ORSHL:
                moved = self.let(f"shl {kind} {self.register('b')}, {self.splat(self.field('c'))}")
                return self.let(f"or {kind} {self.register('a')}, {moved}")
            case Op.NOT:
                return self.let(f"xor {kind} {self.register('a')}, {lanes.const(1)}")
            case Op.ITE:
                condition = self.let(f"icmp ne {kind} {self.register('a')}, zeroinitializer")
                yes, no = self.register("b"), self.register("c")
                return self.let(f"select {self.flag} {condition}, {kind} {yes}, {kind} {no}")
            case Op.CARD:
                return self.let(f"call {kind} @llvm.ctpop.{lanes.suffix}({kind} {self.register('a')})")
            case Op.SHL1:
                amount, inside = self.index(self.register("a"))
                moved = self.let(f"shl {kind} {lanes.const(1)}, {amount}")
                return self.let(f"select {self.flag} {inside}, {kind} {moved}, {kind} zeroinitializer")
            case Op.BIT:
                amount, inside = self.index(self.register("b"))
                moved = self.let(f"lshr {kind} {self.register('a')}, {amount}")
                bit = self.let(f"and {kind} {moved}, {lanes.const(1)}")
                return self.let(f"select {self.flag} {inside}, {kind} {bit}, {kind} zeroinitializer")
        a, b = self.register("a"), self.register("b")
        match op:
            case Op.LT | Op.EQ:
                return self.truth(self.let(f"icmp {'slt' if op is Op.LT else 'eq'} {kind} {a}, {b}"))
            case Op.MIN | Op.MAX:
                name = f"@llvm.s{op.name.lower()}.{lanes.suffix}"
                return self.let(f"call {kind} {name}({kind} {a}, {kind} {b})")
            case Op.ANDNOT:
                return self.let(f"and {kind} {a}, {self.let(f'xor {kind} {b}, {lanes.const(-1)}')}")
        words = {Op.ADD: "add", Op.SUB: "sub", Op.DIV: "udiv", Op.MOD: "urem", Op.BAND: "and", Op.BOR: "or"}
        return self.let(f"{words[op]} {kind} {a}, {b}")

    def index(self, index: str) -> tuple[str, str]:
        """Return a shift amount that is valid in every lane, and the lanes whose index is one (`Writer._index`)."""
        last = min(MAX_BIT, self.lanes.bits - 1)
        inside = self.let(f"icmp ule {self.kind} {index}, {self.lanes.const(last)}")
        return self.let(f"and {self.kind} {index}, {self.lanes.const(self.lanes.bits - 1)}"), inside

    def record(self) -> None:
        """Write the records of an instance, except in lanes in which it changes nothing or is asleep."""
        lanes, instance = self.lanes, self.field("a")
        plane = self.let(
            f"getelementptr {self.kind}, ptr %asleep, i64 {self.let(f'udiv i64 {instance}, {lanes.bits}')}"
        )
        bit = self.splat(self.let(f"shl i64 1, {self.let(f'urem i64 {instance}, {lanes.bits}')}"))
        asleep = self.let(f"and {self.kind} {self.load(plane)}, {bit}")
        sleeping = self.bits(self.let(f"icmp ne {self.kind} {asleep}, zeroinitializer"))
        unwanted = self.let(f"and i64 {self.let('load i64, ptr %idle, align 8')}, %thin")
        left_out = self.let(f"or i64 {unwanted}, {sleeping}")
        keep = self.let(f"and i64 {self.mask('b')}, {self.let(f'xor i64 {left_out}, -1')}")
        places = self.let(f"getelementptr i64, ptr %places, i64 {self.field('e')}")
        first = self.let(f"or i64 %origin, {instance}")
        start = self.let("load ptr, ptr %record, align 8")
        self.do(f"store ptr {start}, ptr %before, align 8")
        end = self.let(
            f"call ptr @records(ptr {start}, i64 {keep}, ptr %words, ptr %fresh, ptr {places},"
            f" i64 {self.field('c')}, i64 {first})"
        )
        self.do(f"store ptr {end}, ptr %record, align 8")
        self.do("store i64 -1, ptr %idle, align 8")

    def note(self) -> None:
        """Note a step check that is hit, in the records written by the last RECORD."""
        lanes = self.let(f"and i64 {self.mask('c')}, {self.holds('d')}")
        start, end = self.let("load ptr, ptr %before, align 8"), self.let("load ptr, ptr %record, align 8")
        word, bit = self.field("a"), self.field("b")
        self.do(
            f"call void @flag(ptr {start}, ptr {end}, i64 {lanes}, i64 %position, ptr %seen, i64 {word}, i64 {bit})"
        )


def constant_bytes(name: str, data: bytes) -> str:
    """Return the IR of a constant that other modules can refer to."""
    text = "\\" + data.hex("\\")
    return f'@{name} = constant [{len(data)} x i8] c"{text}", align 64'
