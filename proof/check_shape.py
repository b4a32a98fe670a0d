"""Check the shape of a certificate from its text alone: `python check_shape.py DIR`.

It needs neither elrcheck nor a solver. It checks that every action and choice of its arguments has a script or is
impossible; that each script of steps asserts one guard, the assumptions, and one equation for each variable of the next
state, and asks for every lemma and property of steps; that a lemma after the step is the lemma before it, of the next
state; that nothing else is asserted, and no file, variable or definition is left over. If a solver answers every
question with `unsat`, the properties hold in the system of the certificate's own formulas. It does not check that these
are the formulas of the model: `elrcheck prove --check-certificate` generates them again and compares.
Exit code 0: the shape is right; 1: it is wrong, with the file and the fault; 2: no such folder.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

SCHEMA, LIMIT = "elrcheck.certificate/2", 256 * 2**20
TOKEN = re.compile(r"[()]|\|[^|]*\||[^\s()|]+")
NUMERAL, BOUND = re.compile(r"[0-9]+"), re.compile(r"a!\d+")
OPERATORS = {"and", "or", "not", "=>", "=", "distinct", "ite", "let", "true", "false", *"+-*<>", "<=", ">="}
PHASES = ("initiation.smt2.gz", "implication.smt2.gz", "impossible.smt2.gz")
FRAME, TYPES = "Frame", "Types"
QUESTION = (("push", "1"), "assert", "not", "check-sat-assuming", ("pop", "1"))


class WrongShape(Exception):
    """The shape is wrong; the message has the file and the fault."""


def demand(holds: object, file: str, why: str) -> None:
    if not holds:
        raise WrongShape(f"{file}: {why}")


def expression(line: str, file: str) -> Any:
    """Parse the command of a line to nested tuples; names lose the bars around them."""
    stack: list[list[Any]] = [[]]
    for token in TOKEN.findall(line):
        if token == "(":
            stack.append([])
        elif token == ")":
            demand(len(stack) > 1, file, "a parenthesis too many")
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(token.strip("|"))
    demand(len(stack) == 1 and len(stack[0]) == 1, file, f"not one command in a line: {line[:40]}")
    return stack[0][0]


def commands(folder: Path, file: str, sha256: str) -> list[Any]:
    demand((folder / file).resolve().is_relative_to(folder.resolve()), file, "it is outside of the folder")
    try:
        with gzip.open(folder / file) as stream:
            raw = stream.read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as fault:
        raise WrongShape(f"{file}: cannot read it: {fault}") from fault
    same = hashlib.sha256(raw).hexdigest() == sha256 and len(raw) <= LIMIT
    demand(same, file, "not the text of the manifest")
    return [expression(line, file) for line in raw.decode("ascii").splitlines()]


def symbols(tree: Any) -> set[str]:
    """Return the names in a formula, without operators, numerals and names that `let` binds."""
    if isinstance(tree, tuple):
        return set().union(*map(symbols, tree))
    return set() if tree in OPERATORS or NUMERAL.fullmatch(tree) or BOUND.fullmatch(tree) else {tree}


def earlier(tree: Any) -> Any:
    """Return a formula about the next state as one about the state before."""
    return tuple(map(earlier, tree)) if isinstance(tree, tuple) else tree.replace("'", "")


def conjuncts(tree: Any) -> list[Any]:
    return [one for part in tree[1:] for one in conjuncts(part)] if tree[0] == "and" else [tree]


class Certificate:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        manifest = self.manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        self.values: dict[str, dict[str, list[str]]] = {e["action"]: e["values"] for e in manifest["actions"]}
        demand(manifest.get("schema") == SCHEMA, "manifest.json", f"not of {SCHEMA}")
        demand(not manifest["open"], "manifest.json", "the proof left obligations open")
        demand(
            manifest.get("sizes") != "any", "manifest.json", "it is about every size, whose shape this does not know"
        )
        for names in ("lemmas", "properties", "assumed"):
            demand(len(set(manifest[names])) == len(manifest[names]), "manifest.json", f"{names} twice")
        files = ["manifest.json", manifest["premises"]["file"], *(s["file"] for s in manifest["scripts"])]
        present = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        for file in (*files, *(one for one in present if not one.startswith(".draft/"))):
            demand(files.count(file) == 1, file, "the manifest does not name it, or names it twice")
        self.queries = 0
        self._premises()

    def _premises(self) -> None:
        manifest, file = self.manifest, self.manifest["premises"]["file"]
        first, *rest = commands(self.folder, file, manifest["premises"]["sha256"])
        demand(first == ("set-logic", "ALL"), file, "it begins otherwise than (set-logic ALL)")
        declared: dict[str, str] = {}
        defined: dict[str, Any] = {}
        asserted = []
        for command in rest:
            kind, name = command[0], command[1]
            if kind == "assert":
                asserted.append(name)
                continue
            repeated = name in declared or name in defined
            demand(kind in ("declare-fun", "define-fun") and not repeated, file, f"{kind} {name}, or twice")
            demand(command[2] == (), file, f"{name} has parameters")
            (declared if kind == "declare-fun" else defined)[name] = command[-1]
            demand(kind == "declare-fun" or command[3] == "Bool", file, f"{name} is not a formula")
        lemmas = [TYPES, *manifest["lemmas"]]
        literals = [f"lemma!{name}" for name in lemmas]
        implied = [("=>", f"lemma!{name}", f"now!{name}") for name in lemmas]
        extra = [one for one in asserted if one not in implied] or ["one is missing, or there twice"]
        demand(asserted == implied, file, f"assertions beside those of the lemmas: {str(extra[0])[:60]}")
        demand(all(declared.pop(name, "") == "Bool" for name in literals), file, "a lemma has no literal")
        self.now = {name for name in declared if "'" not in name}
        self.next = declared.keys() - self.now
        self.steps = [name for name in manifest["properties"] if f"goal!{name}" in defined]
        self.states = [name for name in manifest["properties"] if f"now!{name}" in defined]
        demand(sorted(self.steps + self.states) == sorted(manifest["properties"]), file, "not each property")
        expected = {f"{kind}!{name}" for kind in ("now", "goal") for name in lemmas}
        expected |= {f"goal!{name}" for name in self.steps} | {f"now!{name}" for name in self.states}
        expected |= {f"assumed!{name}" for name in manifest["assumed"]}
        left = sorted(expected ^ defined.keys())
        demand(not left, file, f"missing, or left over: {left[:1]}")
        for name, tree in defined.items():
            allowed = self.now if name.startswith("now!") else declared.keys()
            demand(symbols(tree) <= allowed, file, f"{name} has names that it may not have")
        used = set().union(*map(symbols, defined.values()))
        demand(declared.keys() == used | self.next, file, "a variable that no formula has")
        for name in self.next:
            demand(declared.get(earlier(name)) == declared[name], file, f"{name} is new after the step")
        for name in manifest["lemmas"]:
            same = earlier(defined[f"goal!{name}"]) == defined[f"now!{name}"]
            demand(same, file, f"goal!{name} is not now!{name} of the next state")
        self._types(file, defined[f"now!{TYPES}"], defined[f"goal!{TYPES}"], declared)
        for size, pattern in (("broker_count", r"broker\[(\d+)"), ("log_slots", r"broker\[0\]\.log\[(\d+)")):
            slots = {int(m[1]) for name in self.now if (m := re.match(pattern, name))}
            right = slots == set(range(manifest["config"][size]))
            demand(right, "manifest.json", f"{size} is another one in the variables of {file}")

    def _types(self, file: str, before: Any, after: Any, declared: dict[str, str]) -> None:
        """Check that the types after a step are those before, except for parts that no step changes."""
        now, again = conjuncts(before), conjuncts(earlier(after))
        rest = tuple(part for part in now if part not in again)
        demand(all(part in now for part in again), file, "goal!Types has parts that now!Types has not")
        less = symbols(rest) & set(map(earlier, self.next))
        demand(not less, file, "goal!Types asks less than now!Types")
        left = {name for name in self.next if declared[name] == "Int"} - symbols(after)
        demand(not left, file, f"goal!Types leaves out {sorted(left)[:1]}")

    def questions(self, script: dict[str, Any], trees: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the assertions of a script, and its questions (name, goal, lemmas) in the order of the manifest."""
        file, cells = script["file"], script["cells"]
        first = len(trees) - 4 * len(cells)
        demand(first >= 0, file, "fewer questions than the manifest lists")
        literals, queries = {f"lemma!{name}" for name in (TYPES, *self.manifest["lemmas"])}, []
        for at, cell in zip(range(first, len(trees), 4), cells, strict=True):
            push, goal, check, pop = trees[at : at + 4]
            assumed, heads = check[1], (push, goal[0], goal[1][0], check[0], pop)
            demand(heads == QUESTION, file, "a question of another form")
            demand(set(assumed) <= literals, file, f"{cell['name']} assumes what is not a lemma")
            queries.append((cell["name"], goal[1][1], assumed))
        self.queries += len(queries)
        return trees[:first], queries

    def exactly(self, file: str, queries: list[Any], names: list[str], kind: str) -> None:
        """Check that the questions have these names, each once and with its own formula."""
        demand(sorted(one[0] for one in queries) == sorted(names), file, "it does not ask for each goal once")
        for name, goal, _ in queries:
            right = symbols(goal) <= self.now if name == FRAME else goal == f"{kind}!{name}"
            demand(right, file, f"the question {name} is about {str(goal)[:40]}")

    def initiation(self, script: dict[str, Any], trees: list[Any]) -> list[str]:
        facts, queries = self.questions(script, trees)
        file = script["file"]
        demand(len(facts) == 1 and facts[0][0] == "assert", file, "it asserts more than the initial state")
        named = []  # one value for each variable, so that the facts cannot contradict each other
        for one in conjuncts(facts[0][1]):
            plain = isinstance(one, str) or one[0] == "not" or (one[0] == "=" and not symbols(one[1]))
            named.append(one if isinstance(one, str) else one[-1] if plain else "")
        demand(sorted(named) == sorted(self.now), file, "not one value of each variable")
        self.exactly(file, queries, [TYPES, *self.manifest["lemmas"]], "now")
        demand(not any(assumed for _, _, assumed in queries), file, "it assumes lemmas of the initial state")
        return []

    def implication(self, script: dict[str, Any], trees: list[Any]) -> list[str]:
        facts, queries = self.questions(script, trees)
        demand(not facts, script["file"], "it asserts something")
        self.exactly(script["file"], queries, self.states, "now")
        return []

    def step(self, script: dict[str, Any], trees: list[Any]) -> None:
        facts, queries = self.questions(script, trees)
        file = script["file"]
        demand(facts, file, "it has no guard")
        guard, *facts = facts
        demand(guard[0] == "assert" and guard[1] != "false", file, "its guard is false")
        demand(symbols(guard[1]) <= self.now, file, "its guard is not about the state before the step")
        assumed = [("assert", f"assumed!{name}") for name in self.manifest["assumed"]]
        demand(facts[: len(assumed)] == assumed, file, "it does not assert each assumption once")
        left = []
        for command in facts[len(assumed) :]:
            equation: Any = command[1] if command[0] == "assert" and len(command) == 2 else ()
            plain = len(equation) == 3 and equation[0] == "=" and equation[1] in self.next
            demand(plain, file, f"an assertion that is not an equation of the next state: {str(command)[:60]}")
            demand(symbols(equation[2]) <= self.now, file, f"{equation[1]} depends on the next state")
            left.append(equation[1])
        demand(sorted(left) == sorted(self.next), file, "not one equation for each variable after the step")
        self.exactly(file, queries, [FRAME, TYPES, *self.manifest["lemmas"], *self.steps], "goal")

    def impossible(self, script: dict[str, Any], trees: list[Any]) -> list[str]:
        facts, queries = self.questions(script, trees)
        file, guards = script["file"], set()
        for command in facts:
            new = command[0] == "define-fun" and command[1] not in guards
            demand(new, file, f"it has another command: {command[0]} {str(command[1])[:40]}")
            guards.add(command[1])
            own = {parameter[0] for parameter in command[2]}
            demand(symbols(command[4]) <= self.now | own, file, f"{command[1]} is not about a state")
        texts = {f"guard!{a}": self.spelled(a) for a in self.values}
        for name, goal, _ in queries:
            guard, *arguments = goal[1] if isinstance(goal[1], tuple) else goal[1:]
            right = goal[0] == "not" and guard in guards and texts.get(guard, {}).get(name) == arguments
            demand(right, file, f"{name} is another question")
        used = {f"guard!{name.split('(')[0]}" for name, _, _ in queries}
        demand(guards == used, file, "a guard is left over")
        return [name for name, _, _ in queries]

    def spelled(self, action: str) -> dict[str, list[Any]]:
        """Return each choice of the action's arguments, as reports write it -> its terms."""
        values, brokers = self.values[action], int(self.manifest["config"]["broker_count"])
        choices = {}
        for several in itertools.product(*values.values()):
            terms: list[Any] = []
            for value, of in zip(several, values.values(), strict=True):
                if value.startswith("{"):
                    members = value.strip("{}").split(",")
                    terms += ["true" if str(b) in members else "false" for b in range(brokers)]
                elif value == "none":
                    terms.append(("-", "1"))
                else:
                    own = value in ("true", "false") or NUMERAL.fullmatch(value)
                    terms.append(value if own else str(of.index(value)))
            arguments = ", ".join(f"{name}={value}" for name, value in zip(values, several, strict=True))
            choices[f"{action}({arguments})"] = terms
        return choices

    def check(self) -> str:
        manifest = self.manifest
        every = [choice for action in self.values for choice in self.spelled(action)]
        covered, phases = list[str](), list[str]()
        for script in manifest["scripts"]:
            trees, file = commands(self.folder, script["file"], script["sha256"]), script["file"]
            if script["action"]:
                arguments = ", ".join(f"{name}={value}" for name, value in script["arguments"].items())
                covered.append(f"{script['action']}({arguments})")
                demand(covered[-1] in every, file, f"{covered[-1]} is not a choice of the manifest")
                self.step(script, trees)
                continue
            demand(file in PHASES and file not in phases, file, "no part of a proof")
            phases.append(file)
            covered += getattr(self, file.split(".")[0])(script, trees)
        demand(len(phases) == len(PHASES), "manifest.json", f"not all of {PHASES}")
        for one in {*every, *covered}:
            demand(covered.count(one) == every.count(one) == 1, "manifest.json", f"{one}: no script, or two")
        steps = len(manifest["scripts"]) - len(PHASES)
        return (
            f"{self.queries} questions; {steps} choices of arguments of {len(self.values)} actions asked,"
            f" {len(covered) - steps} impossible; {len(manifest['properties'])} properties,"
            f" {len(manifest['lemmas'])} lemmas, {len(manifest['assumed'])} assumptions"
        )


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python check_shape.py DIR", file=sys.stderr)
        return 2
    sys.setrecursionlimit(20_000)
    try:
        print(f"SHAPE RIGHT  {Certificate(Path(arguments[0])).check()}")
        return 0
    except (WrongShape, OSError) as refusal:
        print(f"REFUSED  {refusal}")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as fault:
        print(f"REFUSED  manifest.json, or a text that it names: not of this form ({fault!r})")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
