"""Certificates that say more than was proved. Each is whole: the manifest has the digests of its texts."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elrcheck.proof.certificate import IMPOSSIBLE, INITIATION, MANIFEST, PREMISES, digest

Manifest = dict[str, Any]


def edit(folder: Path, change: Callable[[Manifest], object]) -> None:
    path = folder / MANIFEST
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def rewrite(folder: Path, file: str, change: Callable[[str], str]) -> None:
    """Change a text, and name it in the manifest, as somebody would who wants to be believed."""
    path = folder / file
    text = change(gzip.decompress(path.read_bytes()).decode())
    path.write_bytes(gzip.compress(text.encode()))

    def named(manifest: dict[str, Any]) -> None:
        for entry in (manifest["premises"], *manifest["scripts"]):
            if entry["file"] == file:
                entry["sha256"] = digest(text)

    edit(folder, named)


def script_of(folder: Path, action: str) -> str:
    manifest = json.loads((folder / "manifest.json").read_text())
    return next(str(entry["file"]) for entry in manifest["scripts"] if entry["action"] == action)


def files(folder: Path) -> list[str]:
    manifest = json.loads((folder / MANIFEST).read_text())
    return [str(entry["file"]) for entry in manifest["scripts"] if entry["action"]]


@dataclass(frozen=True)
class Forgery:
    """forge: change a certificate, and return the file, or the part of the proof, that a refusal names.

    shapely: its text has the shape of a proof; only what the model says gives it away.
    """

    forge: Callable[[Path], str]
    shapely: bool = False

    @property
    def name(self) -> str:
        return self.forge.__name__.strip("_")


def _dropped_scripts(folder: Path) -> str:
    """The texts are still there."""
    file = script_of(folder, "ApplyMetadata")
    dropped = ("Fetch", "Crash", "ControllerAlters", "ApplyMetadata")
    edit(folder, lambda m: m.update(scripts=[s for s in m["scripts"] if s["action"] not in dropped]))
    return file


def _removed_scripts(folder: Path) -> str:
    """Manifest and texts: the broker cannot be killed."""
    (folder / script_of(folder, "Kill")).unlink()
    edit(folder, lambda m: m.update(scripts=[s for s in m["scripts"] if s["action"] != "Kill"]))
    return "Kill(b=0)"


def _every_goal_true(folder: Path) -> str:
    rewrite(folder, PREMISES, lambda text: re.sub(r"(define-fun goal!\w+ \(\) Bool) .*\)", r"\1 true)", text))
    return PREMISES


def _one_goal_true(folder: Path) -> str:
    goal = "(define-fun goal!QuorumCovers () Bool "
    rewrite(folder, PREMISES, lambda text: re.sub(re.escape(goal) + r".*\)", goal + "true)", text))
    return PREMISES


def _another_configuration(folder: Path) -> str:
    edit(folder, lambda m: m["config"].update(broker_count=7, log_slots=6))
    edit(folder, lambda m: m.update(assumptions=[], assumed=[]))
    return MANIFEST


def _false_in_each_script(folder: Path) -> str:
    for file in files(folder):
        rewrite(folder, file, lambda text: "(assert false)\n" + text)
    return script_of(folder, "Fetch" if "Fetch" in str(files(folder)) else "Crash")


def _false_as_a_guard(folder: Path) -> str:
    file = script_of(folder, "Crash")
    rewrite(folder, file, lambda text: "(assert false)\n" + text.split("\n", 1)[1])
    return file


def _false_in_the_premises(folder: Path) -> str:
    rewrite(folder, PREMISES, lambda text: text + "(assert false)\n")
    return PREMISES


def _an_assumed_lemma(folder: Path) -> str:
    rewrite(folder, PREMISES, lambda text: text + "(assert lemma!QuorumCovers)\n")
    return PREMISES


def _false_in_the_initial_state(folder: Path) -> str:
    rewrite(folder, INITIATION, lambda text: "(assert false)\n" + text)
    return INITIATION


def _another_assertion(folder: Path) -> str:
    """A broker that crashes is the leader."""
    file = script_of(folder, "Crash")
    rewrite(folder, file, lambda text: "(assert (= partition.leader 0))\n" + text)
    return file


def _script_of_another_action(folder: Path) -> str:
    """A crash is asked instead of a kill."""
    crash, kill = (folder / script_of(folder, action) for action in ("Crash", "Kill"))
    text = gzip.decompress(crash.read_bytes()).decode()
    rewrite(folder, script_of(folder, "Kill"), lambda _: text)
    return kill.relative_to(folder).as_posix()


def _one_file_for_two(folder: Path) -> str:
    """The entry of Kill names the text of Crash."""
    crash, kill = script_of(folder, "Crash"), script_of(folder, "Kill")
    (folder / kill).unlink()

    def shared(manifest: Manifest) -> None:
        by_file = {entry["file"]: entry for entry in manifest["scripts"]}
        by_file[kill].update(file=crash, sha256=by_file[crash]["sha256"], cells=by_file[crash]["cells"])

    edit(folder, shared)
    return crash


def _two_scripts_for_one(folder: Path) -> str:
    """The first of two scripts of Kill asks nothing; the second is right."""
    extra = "consecution/999-Kill.smt2.gz"
    (folder / extra).write_bytes(gzip.compress(b""))
    entry = {"file": extra, "sha256": digest(""), "cells": [], "action": "Kill", "arguments": {"b": "0"}}
    edit(folder, lambda m: m["scripts"].insert(0, entry))
    return next(file for file in files(folder) if "Kill" in file and file != extra)


def _removed_goal(folder: Path) -> str:
    file = script_of(folder, "Fence")
    rewrite(folder, file, lambda text: "".join(text.splitlines(True)[:-4]))

    def shorter(manifest: Manifest) -> None:
        next(entry for entry in manifest["scripts"] if entry["file"] == file)["cells"].pop()

    edit(folder, shorter)
    return file


def _goal_asked_twice(folder: Path) -> str:
    """The last goal makes room for the one before it."""
    file = script_of(folder, "Fence")
    rewrite(folder, file, lambda text: "".join((lines := text.splitlines(True))[:-4] + lines[-8:-4]))

    def twice(manifest: Manifest) -> None:
        cells = next(entry for entry in manifest["scripts"] if entry["file"] == file)["cells"]
        cells[-1] = cells[-2]

    edit(folder, twice)
    return file


def _another_variable(folder: Path) -> str:
    """The first equation defines the variable of the second one."""
    file = script_of(folder, "Crash")

    def again(text: str) -> str:
        lines = text.splitlines(True)
        first, second = [k for k, line in enumerate(lines) if line.startswith("(assert (= ")][:2]
        lines[first] = lines[second]
        return "".join(lines)

    rewrite(folder, file, again)
    return file


def _undefined_variable(folder: Path) -> str:
    file = script_of(folder, "Crash")
    rewrite(folder, file, lambda text: re.sub(r"\(assert \(= .*\n", "", text, count=1))
    return file


def _another_property(folder: Path) -> str:
    """The manifest claims one that the texts do not ask."""
    edit(folder, lambda m: m["properties"].append("NoReplicaChange"))
    return MANIFEST


def _dropped_assumption(folder: Path) -> str:
    edit(folder, lambda m: m["assumed"].pop())
    return MANIFEST


def _possible_as_impossible(folder: Path) -> str:
    """The choice of a kill is among the impossible ones, with a formula that no state satisfies."""
    (folder / script_of(folder, "Kill")).unlink()
    question = "(push 1)\n(assert (not (not false)))\n(check-sat-assuming (lemma!Types))\n(pop 1)\n"
    rewrite(folder, IMPOSSIBLE, lambda text: text + question)

    def moved(manifest: Manifest) -> None:
        manifest["scripts"] = [s for s in manifest["scripts"] if s["action"] != "Kill"]
        entry = next(s for s in manifest["scripts"] if s["file"] == IMPOSSIBLE)
        entry["cells"].append({"name": "Kill(b=0)", "core": []})

    edit(folder, moved)
    return IMPOSSIBLE


def _fewer_actions(folder: Path) -> str:
    """The manifest does not know of kills."""
    (folder / script_of(folder, "Kill")).unlink()

    def without(manifest: Manifest) -> None:
        for part in ("scripts", "actions"):
            manifest[part] = [entry for entry in manifest[part] if entry["action"] != "Kill"]

    edit(folder, without)
    return MANIFEST


def _unreferenced_file(folder: Path) -> str:
    (folder / "consecution" / "998-More.smt2.gz").write_bytes(gzip.compress(b"(assert false)\n"))
    return "consecution/998-More.smt2.gz"


def _types_not_asked(folder: Path) -> str:
    """In no script, so that a step may lead to any number."""
    for file in files(folder):
        cells: list[dict[str, Any]] = []

        def without(manifest: Manifest, file: str = file, cells: list[dict[str, Any]] = cells) -> None:
            entry = next(entry for entry in manifest["scripts"] if entry["file"] == file)
            cells += entry["cells"]
            entry["cells"] = [cell for cell in cells if cell["name"] != "Types"]

        edit(folder, without)
        at = next(k for k, cell in enumerate(cells) if cell["name"] == "Types")
        first = -4 * (len(cells) - at)
        rewrite(
            folder,
            file,
            lambda text, k=first: "".join(  # type: ignore[misc]
                (lines := text.splitlines(True))[:k] + lines[k + 4 :]
            ),
        )
    return script_of(folder, "Kill")


def _types_asked_in_part(folder: Path) -> str:
    """Nothing is asked of how far the leader epoch may go."""
    part = "(>= |partition.leader_epoch'| 0) "

    def less(text: str) -> str:
        assert text.count(part) == 1
        return text.replace(part, "")

    rewrite(folder, PREMISES, less)
    return PREMISES


def _two_initial_states(folder: Path) -> str:
    """A contradiction, from which all follows."""
    value = "(= 0 partition.leader) "
    rewrite(folder, INITIATION, lambda text: text.replace(value, value + "(= 1 partition.leader) ", 1))
    return INITIATION


def _true_property(folder: Path) -> str:
    """A property of states says nothing."""
    name = json.loads((folder / MANIFEST).read_text())["properties"][-1]
    formula = rf"(define-fun now!{name} \(\) Bool) .*\)"
    rewrite(folder, PREMISES, lambda text: re.sub(formula, r"\1 (= seen.lost.0 seen.lost.0))", text))
    return PREMISES


def _stronger_guard(folder: Path) -> str:
    """Nobody crashes while ELR is on."""
    file = script_of(folder, "Crash")
    rewrite(folder, file, lambda text: "(assert (not settings.elr_enabled))\n" + text.split("\n", 1)[1])
    return file


FORGERIES = tuple(
    Forgery(forge, forge in (_true_property, _stronger_guard, _fewer_actions, _script_of_another_action))
    for forge in (
        _dropped_scripts,
        _removed_scripts,
        _every_goal_true,
        _one_goal_true,
        _another_configuration,
        _false_in_each_script,
        _false_as_a_guard,
        _false_in_the_premises,
        _an_assumed_lemma,
        _false_in_the_initial_state,
        _another_assertion,
        _script_of_another_action,
        _one_file_for_two,
        _two_scripts_for_one,
        _removed_goal,
        _goal_asked_twice,
        _another_variable,
        _undefined_variable,
        _another_property,
        _dropped_assumption,
        _possible_as_impossible,
        _fewer_actions,
        _unreferenced_file,
        _types_not_asked,
        _types_asked_in_part,
        _two_initial_states,
        _true_property,
        _stronger_guard,
    )
)
