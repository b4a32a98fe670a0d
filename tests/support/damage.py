"""What can happen to a file of the store: flips, cuts, exchanges, other modes and owners."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Damage = Callable[[Path, random.Random, Sequence[Path]], bool]
"""Damages a file; the others are those it may change places with. False if it cannot be done here."""
NOBODY = 65_534


def flip(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """Turn over one to three bits."""
    data = bytearray(file.read_bytes())
    before = bytes(data)
    for _unused in range(chance.randint(1, 3)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    return bytes(data) != before


def cut(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """Keep only the beginning."""
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data))])
    return True


def behead(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """Keep only the end."""
    data = file.read_bytes()
    file.write_bytes(data[chance.randint(1, len(data)) :])
    return True


def blank(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """A stretch of zeros, as a file system leaves it after a power failure."""
    data = bytearray(file.read_bytes())
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.randint(1, 512))
    changed = any(data[start:end])
    data[start:end] = bytes(end - start)
    file.write_bytes(data)
    return changed


def grow(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """More at the end."""
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randint(1, 64)))
    return True


def empty(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """Nothing in it."""
    file.write_bytes(b"")
    return True


def exchange(file: Path, chance: random.Random, others: Sequence[Path]) -> bool:
    """Two files change places, of whatever kinds."""
    if not others:
        return False
    other = chance.choice(others)
    mine, theirs = file.read_bytes(), other.read_bytes()
    file.write_bytes(theirs)
    other.write_bytes(mine)
    return mine != theirs


def open_to_others(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """The group, or anyone, may write it."""
    file.chmod(chance.choice((0o620, 0o602, 0o666, 0o777)))
    return hasattr(os, "geteuid")


def give_away(file: Path, chance: random.Random, _: Sequence[Path]) -> bool:
    """It belongs to another user."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    os.chown(file, NOBODY, NOBODY)
    return True


DAMAGES: Mapping[str, Damage] = {
    "flip": flip,
    "cut": cut,
    "behead": behead,
    "blank": blank,
    "grow": grow,
    "empty": empty,
    "exchange": exchange,
    "mode": open_to_others,
    "owner": give_away,
}
WEIGHTS = {"flip": 8, "cut": 4}
"""How often a damage is drawn, where it is not once."""


def drawn(chance: random.Random) -> Damage:
    """Some damage."""
    names = list(DAMAGES)
    (name,) = chance.choices(names, [WEIGHTS.get(name, 1) for name in names])
    return DAMAGES[name]


def restore(copy: Path, folder: Path) -> None:
    """Put a folder back as it was, with times, modes and owners."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(copy, folder)
