"""Numbers that look random, made from numbers and text: the same ones whenever and wherever they are made."""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["key_of", "mixed"]


def key_of(text: str) -> np.uint64:
    """What :func:`mixed` mixes in: a hash of some text."""
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def mixed(x: np.ndarray, key: np.uint64) -> np.ndarray:
    """Numbers that look random, one for each x (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ key
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
