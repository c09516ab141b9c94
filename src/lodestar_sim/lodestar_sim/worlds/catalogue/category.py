"""Record of an object category."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Size = tuple[float, float, float]


@dataclass(frozen=True)
class Variant:
    """One variant of a category: mesh reference, material, word for captions ("office"), and allowed colours."""

    mesh: str
    material: str
    word: str = ""
    colors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Category:
    """A category of objects. size_low, size_high: metres along its own axes, front towards +x.

    place: "floor", "wall" (mounted with its base at `mount_height`), "top" (on furniture) or "shelf" (on top or in
    a compartment). rooms: labels of rooms where it belongs; empty: anywhere. group: name shared by classes
    that a person or a text embedding might confuse; no task depends on telling them apart.
    """

    name: str
    variants: tuple[Variant, ...]
    size_low: Size
    size_high: Size
    colors: tuple[str, ...]
    place: str = "floor"
    rooms: tuple[str, ...] = ()
    group: str = ""
    movable: bool = False
    mount_height: float = 0.0

    def sample_size(self, rng: np.random.Generator) -> Size:
        """Return a random size within the range, metres, to 1 cm; its lengths have a correlation of 0.5."""
        low, high = np.array(self.size_low), np.array(self.size_high)
        share = 0.5 * rng.random() + 0.5 * rng.random(3)
        size = np.maximum(np.round(low + share * (high - low), 2), 0.01)
        return float(size[0]), float(size[1]), float(size[2])


def category(
    name: str,
    variants: str,
    low: Size,
    high: Size,
    colors: str,
    *,
    place: str = "floor",
    rooms: str = "",
    group: str = "",
    movable: bool = False,
    mount_height: float = 0.0,
) -> Category:
    """Return a category from compact text.

    variants: "shape/variant material [word [colour,colour]]; ..."; the word "_" stands for no word.
    """
    made = []
    for entry in variants.split(";"):
        fields = entry.split()
        word = fields[2] if len(fields) > 2 and fields[2] != "_" else ""
        own = tuple(fields[3].split(",")) if len(fields) > 3 else ()
        made.append(Variant(f"param:{fields[0]}", fields[1], word.replace("-", " "), own))
    return Category(
        name,
        tuple(made),
        low,
        high,
        tuple(colors.split()),
        place,
        tuple(r.strip() for r in rooms.split(",") if r.strip()),
        group,
        movable,
        mount_height,
    )
