"""Catalogue of object categories, as data."""

from __future__ import annotations

from lodestar_sim.worlds.catalogue.carried import CARRIED
from lodestar_sim.worlds.catalogue.category import Category, Variant
from lodestar_sim.worlds.catalogue.equipment import EQUIPMENT
from lodestar_sim.worlds.catalogue.furniture import FURNITURE
from lodestar_sim.worlds.catalogue.household import HOUSEHOLD

CATALOGUE: dict[str, Category] = {c.name: c for c in (*FURNITURE, *HOUSEHOLD, *CARRIED, *EQUIPMENT)}


def group_of(name: str) -> str:
    """Return the group of easily confused classes that a class belongs to; its own name if it has none."""
    category = CATALOGUE.get(name)
    return (category.group or name) if category else name


__all__ = ["CATALOGUE", "Category", "Variant", "group_of"]
