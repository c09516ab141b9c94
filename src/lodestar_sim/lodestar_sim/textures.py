"""Procedural textures: brightness variations over the surface of each material."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np

from lodestar_sim.worlds.palette import MATERIALS

SIZE = 256  # texels of the finest level, per side
LEVELS = 7
PLANKS = len(MATERIALS)  # index of the extra texture, a wooden floor

#: Metres covered by one texture before it repeats, per material (wooden floor last).
_PERIODS = {
    "plaster": 3.0, "wood": 1.0, "metal": 0.8, "plastic": 1.0, "fabric": 0.5, "glass": 2.0, "paper": 0.6,
    "ceramic": 1.5, "leather": 0.5, "tile": 0.8, "carpet": 0.9, "concrete": 3.0, "leaf": 0.3, "skin": 1.0,
    "screen": 1.0, "water": 1.2,
}  # fmt: skip
#: Strength and sharpness of the highlight, per material.
_GLOSS = {
    "metal": (0.55, 40.0), "glass": (0.7, 80.0), "ceramic": (0.35, 50.0), "plastic": (0.18, 24.0),
    "leather": (0.14, 14.0), "tile": (0.22, 40.0), "screen": (0.35, 60.0), "water": (0.8, 90.0),
    "wood": (0.08, 12.0), "leaf": (0.08, 10.0), "skin": (0.05, 8.0),
}  # fmt: skip


def _noise(rng: np.random.Generator, cells_x: int, cells_y: int) -> np.ndarray:
    """Return smooth tileable noise in about [-1, 1], (SIZE, SIZE)."""
    lattice = rng.uniform(-1.0, 1.0, (cells_y, cells_x)).astype(np.float32)
    lattice = np.pad(lattice, 2, mode="wrap")
    x = (np.arange(SIZE, dtype=np.float32) / SIZE * cells_x + 2.0)[None, :].repeat(SIZE, 0)
    y = (np.arange(SIZE, dtype=np.float32) / SIZE * cells_y + 2.0)[:, None].repeat(SIZE, 1)
    return cv2.remap(lattice, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)


def _fractal(rng: np.random.Generator, cells: int, octaves: int, stretch: int = 1) -> np.ndarray:
    total = np.zeros((SIZE, SIZE), np.float32)
    for octave in range(octaves):
        count = cells * 2**octave
        total += _noise(rng, max(count // stretch, 1), count) * 0.55**octave
    return total


def _grid_lines(count: int, width: float) -> np.ndarray:
    """Return an image (SIZE, SIZE) float32 of grid lines, 1 on a line, with `count` squares per side."""
    place = (np.arange(SIZE) + 0.5) / SIZE * count % 1.0
    line = ((place < width / 2) | (place > 1.0 - width / 2)).astype(np.float32)
    return np.maximum(line[None, :], line[:, None])


def _plaster(rng):
    return 1.0 + 0.025 * _fractal(rng, 4, 4) + 0.012 * _noise(rng, 128, 128)


def _wood(rng):
    rings = _fractal(rng, 8, 3, stretch=8) * 5.0 + np.linspace(0, 14 * np.pi, SIZE, endpoint=False)[:, None]
    bands = 0.10 * np.sin(rings) * (0.6 + 0.4 * _noise(rng, 4, 8))
    return 1.0 + bands + 0.07 * _fractal(rng, 32, 2, stretch=16)


def _planks(rng):
    boards = 8
    texture = 0.97 + 0.08 * _fractal(rng, 32, 3, stretch=16) + 0.05 * _fractal(rng, 4, 3)
    rows = np.arange(SIZE) * boards // SIZE
    shade = rng.uniform(0.84, 1.08, (boards, 2))
    joint = rng.integers(0, SIZE, boards)
    columns = (np.arange(SIZE)[None, :] - joint[rows][:, None]) % SIZE
    texture *= shade[rows][np.arange(SIZE)[:, None], (columns >= SIZE // 2).astype(int)]
    seam = (np.arange(SIZE) * boards % SIZE) < boards * 1.6
    texture[seam] *= 0.62
    texture[columns % (SIZE // 2) < 2] *= 0.7
    return texture


def _metal(rng):
    return 1.0 + 0.05 * _fractal(rng, 128, 1, stretch=64) + 0.04 * _fractal(rng, 4, 2)


def _fabric(rng):
    a = np.arange(SIZE) * (2.0 * np.pi * 48 / SIZE)
    weave = np.sin(a)[None, :] * np.sin(a)[:, None]
    return 1.0 + 0.09 * weave + 0.07 * _fractal(rng, 8, 4) + 0.05 * _noise(rng, 128, 128)


def _leather(rng):
    return 1.0 + 0.12 * np.abs(_fractal(rng, 32, 2)) - 0.05 + 0.05 * _fractal(rng, 4, 2)


def _tile(rng):
    squares = rng.uniform(0.93, 1.04, (2, 2)).repeat(SIZE // 2, 0).repeat(SIZE // 2, 1)
    texture = squares + 0.025 * _fractal(rng, 8, 4)
    return np.where(_grid_lines(2, 0.018) > 0, 0.66, texture)


def _carpet(rng):
    return 1.0 + 0.11 * _noise(rng, 128, 128) + 0.07 * _noise(rng, 64, 64) + 0.06 * _fractal(rng, 4, 3)


def _concrete(rng):
    pores = _noise(rng, 60, 60) > 0.93
    return 1.0 + 0.09 * _fractal(rng, 3, 5) + 0.03 * _noise(rng, 128, 128) - 0.12 * pores


def _paper(rng):
    a = np.arange(SIZE) * (2.0 * np.pi * 40 / SIZE)
    return 1.0 + 0.03 * np.sin(a)[None, :] + 0.04 * _fractal(rng, 6, 3)


def _leaf(rng):
    return 1.0 + 0.28 * _fractal(rng, 16, 3)


def _water(rng):
    return 1.0 + 0.10 * _fractal(rng, 4, 3)


def _smooth(rng):
    return 1.0 + 0.018 * _fractal(rng, 4, 3)


_MAKERS: dict[str, Callable] = {
    "plaster": _plaster, "wood": _wood, "metal": _metal, "fabric": _fabric, "leather": _leather,
    "tile": _tile, "carpet": _carpet, "concrete": _concrete, "paper": _paper, "leaf": _leaf, "water": _water,
}  # fmt: skip


@lru_cache(maxsize=1)
def texture_atlas() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return brightness factors, repeats per metre, and gloss of M materials; the last one is wooden planks.

    Factors: (M, LEVELS, SIZE, SIZE) float32, about 1; each level has half the resolution of the one before
    and fills the upper left corner. Repeats: (M,) float32. Gloss: (M, 2) float32, strength and exponent.
    """
    atlas = np.ones((PLANKS + 1, LEVELS, SIZE, SIZE), np.float32)
    for index, name in enumerate((*MATERIALS, "planks")):
        maker = _planks if name == "planks" else _MAKERS.get(name, _smooth)
        level = np.clip(maker(np.random.default_rng(index)), 0.3, 1.6).astype(np.float32)
        for number in range(LEVELS):
            size = SIZE >> number
            atlas[index, number, :size, :size] = level
            level = cv2.resize(level, (max(size // 2, 1), max(size // 2, 1)), interpolation=cv2.INTER_AREA)
    repeats = np.array([1.0 / _PERIODS[name] for name in MATERIALS] + [1.0 / 1.1], np.float32)
    gloss = np.array([_GLOSS.get(name, (0.0, 1.0)) for name in MATERIALS] + [(0.14, 20.0)], np.float32)
    return atlas, repeats, gloss
