"""The catalogue behind `list` and `show`: the model's parts, properties and witnesses.

    entries("properties")     one line for each: id, name, summary
    find("P-1")               everything about one of them

In an answer of `find`, `list` is the list that has the name; a property's `kind` is always, sometimes or leads_to.

An exact match of a name wins over one that ignores case, and every other kind wins over the glossary. A hazard and
the finding about it share an id, which stands for the finding. For any other ambiguous name, an error lists the
kinds to choose from.

The parts of a user's model are listed in the same way, and the words that docs/glossary.md and `report_words.toml`
explain.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elrcheck.base.common_options import KINDS, OF_ANY_MODEL, ModelSource
from elrcheck.base.errors import UsageFault, did_you_mean, error_codes, exit_of, suggest
from elrcheck.base.typed.configuration import KAFKA_NAMES, SIZES_HELP
from elrcheck.catalogue.model_entries import (
    Entry,
    action_entries,
    finding_entries,
    hazard_entries,
    knob_entries,
    recipe_entries,
    scenario_entries,
    scope_entries,
    variant_entries,
)
from elrcheck.declared.declared_model import declared
from elrcheck.model.knobs import plain, summary
from elrcheck.report.formats import FORMATS
from elrcheck.report.plain_words import some_of

if TYPE_CHECKING:
    from elrcheck.lang.ir import Fn
    from elrcheck.lang.load import Model

PLACE = ("docs", "glossary.md")
REPORT_WORDS = ("catalogue", "report_words.toml")
LEFT_OUT = "Ids"
"""The section whose rows are patterns, not words."""
HEADS = frozenset({"Word", "Term"})
OR = "; or: "
"""Separates several meanings of a word."""


def term_entries() -> list[Entry]:
    """Return an entry for each row of the report words and of the glossary; a row may explain several words."""
    meanings: dict[str, list[str]] = {}
    report_words = (row for table in tomllib.loads(_text(REPORT_WORDS)).values() for row in table.items())
    for cell, meaning in (*report_words, *_rows(_text(PLACE))):
        meanings.setdefault(cell, []).append(meaning)
    return [
        {"name": cell, "summary": OR.join(texts), "aliases": re.split(r"[,;] ", cell)}
        for cell, texts in meanings.items()
    ]


def term(word: str) -> Entry | None:
    """Return the meanings of a word, ignoring case; None if the glossary has none. A word may be in several rows."""
    rows = [row for row in term_entries() if word.lower() in map(str.lower, (row["name"], *row["aliases"]))]
    if len(rows) < 2:
        return rows[0] if rows else None
    return {"name": word, "summary": OR.join(f"{row['name']}: {row['summary']}" for row in rows)}


def _text(place: tuple[str, ...]) -> str:
    return files("elrcheck").joinpath(*place).read_text(encoding="utf-8")


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of each row of the Markdown tables, and their meaning."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [_plain(cell) for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and section != LEFT_OUT and cells[0] not in HEADS:
            yield cells[0], f"[{cells[1]}] {cells[2]}" if len(cells) > 2 else cells[1]


def _plain(text: str) -> str:
    """Return Markdown without its links, quotes and emphasis."""
    linked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(?<!\S)\*(\w[^*]*)\*", r"\1", linked).replace("`", "").strip()


def file_entries(file: ModelSource, kind: str, predicates: Callable[[Any], list[Entry]]) -> list[Entry]:
    """Return the entries of one kind. predicates: makes the entries of properties.

    Raises UsageFault for a kind that only Kafka's partition has.
    """
    if kind not in OF_ANY_MODEL:
        message = f"{kind} are about Kafka's partition"
        raise UsageFault("unknown-kind", message, help=f"a model in a file has {', '.join(OF_ANY_MODEL)}")
    model = declared(file)
    whole = model.whole()
    match kind:
        case "variants":
            return [_settings(name, model.variant(name).values) for name in model.variant_names]
        case "scopes":
            return [_settings(name, model.scope(name).values) for name in model.scope_names]
        case "knobs":
            defaults = {part.name: part.default for part in fields(model.config)}
            return [
                {"name": name, "summary": "" if value is MISSING else f"by default {plain(value)}"}
                for name, value in defaults.items()
            ]
        case "actions":
            return action_entries(whole.actions)
        case "lemmas":
            return predicates(whole.lemmas)
        case "witnesses":
            return predicates(whole.sometimes)
    return predicates((*whole.always, *whole.leads_to))


def _settings(name: str, values: Any) -> Entry:
    text = ", ".join(f"{key}={plain(value)}" for key, value in values.items())
    return {"name": name, "summary": text or "the defaults", "values": {k: plain(v) for k, v in values.items()}}


# ---------------------------------------------------------------------------- list and show

IDS: Mapping[str, tuple[str, ...]] = {
    "P": ("properties",),
    "V": ("properties",),
    "W": ("witnesses",),
    "E": ("scenarios",),
    "CT": ("rules",),
    "F": ("hazards", "findings", "recipes"),
}
"""First letters of an id -> the only kinds that have such ids."""
WORDS = "terms"
"""The kind of the words that the glossary explains."""
OF_NO_MODEL = ("errors", "formats", WORDS)
"""Kinds that are the same for every model."""
MOST_PLACES = 12
"""Entries mentioning a word that a help line names; it counts the others."""
_BRIEF = ("id", "name", "summary", "compared")


def entries(kind: str, model: ModelSource = None) -> list[Entry]:
    """Return the members of one kind, each with a short summary. model: another model than Kafka's partition."""
    full = full_entries(kind) if model is None or kind in OF_NO_MODEL else file_entries(model, kind, _predicates)
    return [{key: entry[key] for key in _BRIEF if key in entry} for entry in full]


def find(name: str, kind: str | None = None, model: ModelSource = None) -> Entry:
    """Return the full entry with this name or id; `kind` chooses where several match. model: see `entries`.

    A setting may have Kafka's name, as `--set` takes it.
    """
    if model is not None:
        return _find_in_file(model, name, kind)
    name, load = KAFKA_NAMES.get(name, name), functools.cache(_load)
    by_id = IDS.get(name.partition("-")[0].upper(), ()) if kind is None and "-" in name else ()
    entry = _entry_of(name, {k: _members(k, load, name) for k in by_id})
    if entry is not None:
        return entry
    kinds = tuple(k for k in KINDS if kind in (None, k) and k != WORDS)
    entry = _entry_of(name, {k: _members(k, load, name) for k in kinds})
    if entry is None and kind in (None, WORDS) and (row := term(name)) is not None:
        return {"list": WORDS, **row}
    if entry is None:
        members = {k: _members(k, load) for k in kinds}
        raise UsageFault("unknown-name", f"there is no `{name}`", help=_help(name, kind, members))
    return entry


def _find_in_file(file: ModelSource, name: str, kind: str | None) -> Entry:
    members = {k: file_entries(file, k, _predicates) for k in OF_ANY_MODEL if kind in (None, k)}
    entry = _entry_of(name, members)
    if entry is None:
        entry = _entry_of(name, {k: full_entries(k) for k in OF_NO_MODEL if kind in (None, k) and k != WORDS})
    if entry is None and kind in (None, WORDS) and (row := term(name)) is not None:
        return {"list": WORDS, **row}
    if entry is None:
        words = [word for rows in members.values() for row in rows for word in _names(row)]
        raise UsageFault("unknown-name", f"there is no `{name}` in {file}", help=did_you_mean(name, words))
    return entry


def _entry_of(name: str, members_of: Mapping[str, Sequence[Entry]]) -> Entry | None:
    """Return the entry with this name; raise UsageFault if several match."""
    for same in (str, str.lower):
        matches = [
            {"list": k, **entry}
            for k, members in members_of.items()
            for entry in members
            if same(name) in map(same, _names(entry))
        ]
        if len(matches) == 1:
            return matches[0]
        if [entry["list"] for entry in matches] == ["hazards", "findings"]:
            hazard, finding = matches
            return {**finding, "hazard": hazard["summary"]}
        if matches:
            kinds = "--kind, one of: " + ", ".join(entry["list"] for entry in matches)
            raise UsageFault("ambiguous-name", f"`{name}` is ambiguous", help=kinds)
    return None


def _help(name: str, kind: str | None, members_of: Mapping[str, Sequence[Entry]]) -> str:
    """Return a close name, or else the entries whose text has the word, or else the command that lists all.

    kind: the only one that the name may have.
    """
    if name == "replication.factor":
        return SIZES_HELP
    words = [word for members in members_of.values() for entry in members for word in _names(entry)]
    near = suggest(name, words)
    if near is not None:
        return f"did you mean `{near}`?"
    whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    mentions = [
        f"{_names(entry)[0]} ({each})"
        for each, members in members_of.items()
        for entry in members
        if name and any(whole.search(text) for text in _texts(entry))
    ]
    if mentions:
        return f"the word is in {some_of(mentions, MOST_PLACES)}"
    if kind not in (None, WORDS):
        return f"`elrcheck list {kind}` lists the names"
    near = suggest(name, [word for row in term_entries() for word in row["aliases"]])
    if near is not None:
        return f"did you mean `{near}`?"
    return f"`elrcheck list KIND` lists the names; kinds: {', '.join(KINDS)}"


def _texts(value: object) -> Iterator[str]:
    """Yield every text of an entry, in all its parts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Iterable):
        for part in value:
            yield from _texts(part)


def full_entries(kind: str) -> list[Entry]:
    """Return the full entries of one kind."""
    return _members(kind, _load)


def _members(kind: str, model: Callable[[], Model], name: str | None = None) -> list[Entry]:
    """Return the members of a kind. model: called only for the kinds that need the compiled model.

    name: return only the parts of the model with this id or name.
    """

    def named(fns: Iterable[Fn]) -> list[Fn]:
        return [fn for fn in fns if name is None or name.lower() in (fn.ident.lower(), fn.name.lower())]

    match kind:
        case "variants":
            return variant_entries()
        case "scopes":
            return scope_entries()
        case "properties":
            return _predicates(named((*model().always, *model().leads_to)))
        case "witnesses":
            return _predicates(named(model().sometimes))
        case "lemmas":
            from elrcheck.invariants.modules import load_proof_model
            from elrcheck.proof.hypotheses import lemmas_of

            return _predicates(named(lemmas_of(load_proof_model())))
        case "actions":
            from elrcheck.lang.fairness import fairness_of

            actions = named(model().actions)
            fair = {fn.name: fairness_of(fn) for fn in actions}
            return [{**entry, "fairness": fair[entry["name"]]} for entry in action_entries(actions)]
        case "knobs":
            return knob_entries(budgets=False)
        case "budgets":
            return knob_entries(budgets=True)
        case "scenarios":
            return scenario_entries()
        case "hazards":
            return hazard_entries()
        case "findings":
            return finding_entries(name)
        case "recipes":
            return recipe_entries(name)
        case "rules":
            return _rules(named)
        case "errors":
            return [
                {"name": code, "summary": f"{about} Exit {exit_of(code)}."} for code, about in error_codes().items()
            ]
        case "formats":
            return [{"name": name, "summary": about} for name, about in FORMATS.items()]
        case "terms":
            return term_entries()
    raise UsageFault("unknown-kind", f"there is no kind `{kind}`", help=did_you_mean(kind, KINDS))


def _load() -> Model:
    from elrcheck.invariants.modules import load_whole_model

    return load_whole_model()


def _predicates(fns: Iterable[Fn]) -> list[Entry]:
    return [
        {
            **({"id": fn.ident} if fn.ident else {}),
            "name": fn.name,
            "summary": summary(fn.doc),
            "kind": fn.kind,
            "of": "behaviours" if fn.kind == "leads_to" else "steps" if fn.is_step else "states",
            "doc": fn.doc,
            "conjuncts": _conjuncts(fn),
            "bounded_only": fn.note or None,
            "source": fn.place,
        }
        for fn in fns
    ]


def _conjuncts(fn: Fn) -> list[str]:
    """Return the names of the conjuncts of a property."""
    from elrcheck.lang.expr import NamedConjunction
    from elrcheck.lang.ir import fn_nodes

    return [name for node in fn_nodes(fn) if isinstance(node, NamedConjunction) for name in node.names]


def _rules(named: Callable[[Iterable[Fn]], list[Fn]]) -> list[Entry]:
    """Return the rules that `prove --controller` proves for single controller steps."""
    from elrcheck.invariants.modules import load_controller_model, rules_of

    return [
        {
            "id": fn.ident,
            "name": fn.name,
            "summary": summary(fn.doc),
            "doc": fn.doc,
            "from": fn.note,
            "source": fn.place,
        }
        for fn in named(rules_of(load_controller_model()))
    ]


def _names(entry: Entry) -> tuple[str, ...]:
    return (*(str(entry[key]) for key in ("id", "name") if key in entry), *entry.get("aliases", ()))
