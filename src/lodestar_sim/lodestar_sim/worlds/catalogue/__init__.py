"""What kinds of things there are, as data."""

from __future__ import annotations

from lodestar_sim.worlds.catalogue.category import Category, Variant
from lodestar_sim.worlds.catalogue.furniture import FURNITURE

CATALOGUE: dict[str, Category] = {category.name: category for category in FURNITURE}


def group_of(name: str) -> str:
    """The set of look-alike or like-named classes that a class belongs to; its own name where it is unlike any."""
    category = CATALOGUE.get(name)
    return (category.group or name) if category else name


__all__ = ["CATALOGUE", "Category", "Variant", "group_of"]
