"""Hashes of 64-bit words: the output function of SplitMix64, and a fast one for packed rows."""

from __future__ import annotations

import numpy as np

from elrcheck.explorer.kernel.walk_memory import MIX_1, MIX_2
from elrcheck.explorer.kernel.word_layout import Words

WORD = (1 << 64) - 1


def mix(number: int) -> int:
    """Return the hash of the low 64 bits of a number, like @mix; each of its bits depends on all of theirs."""
    number &= WORD
    number = (number ^ number >> 30) * MIX_1 & WORD
    number = (number ^ number >> 27) * MIX_2 & WORD
    return number ^ number >> 31


def mix_all(words: Words) -> Words:
    """Return `mix` of every word."""
    words = (words ^ words >> np.uint64(30)) * np.uint64(MIX_1)
    words = (words ^ words >> np.uint64(27)) * np.uint64(MIX_2)
    return words ^ words >> np.uint64(31)


def row_keys(rows: Words, mixer: int) -> Words:
    """Return a hash of each row; each odd `mixer` gives another hash."""
    keys: Words = np.zeros(len(rows), np.uint64)
    for word in range(rows.shape[1]):
        keys = (keys ^ rows[:, word]) * np.uint64(mixer)
        keys ^= keys >> np.uint64(29)
    return keys
