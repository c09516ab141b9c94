"""What kinds of things there are, as data."""

from __future__ import annotations

from lodestar_sim.worlds.catalogue.carried import CARRIED
from lodestar_sim.worlds.catalogue.category import Category, Variant
from lodestar_sim.worlds.catalogue.equipment import EQUIPMENT
from lodestar_sim.worlds.catalogue.furniture import FURNITURE
from lodestar_sim.worlds.catalogue.household import HOUSEHOLD

CATALOGUE: dict[str, Category] = {c.name: c for c in (*FURNITURE, *HOUSEHOLD, *CARRIED, *EQUIPMENT)}


def group_of(name: str) -> str:
    """The set of look-alike or like-named classes that a class belongs to; its own name where it is unlike any."""
    category = CATALOGUE.get(name)
    return (category.group or name) if category else name


__all__ = ["CATALOGUE", "Category", "Variant", "group_of"]
