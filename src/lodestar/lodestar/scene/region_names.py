"""Operators' names for regions; each is tied to a place, because regions grow, merge and are recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap

MAX_LABEL = 60  # most characters of a name
MAX_NAMES = 1000  # most names of one map


class BadRegionName(ValueError):
    """Error: the name or the region is not valid. The message says why."""


class UnknownRegion(BadRegionName):
    """Error: the region does not exist."""


class RegionNames:
    """Operators' names for regions, each stored with the place (2,) in map at which it was given."""

    def __init__(self) -> None:
        self._names: list[tuple[str, np.ndarray]] = []
        self.changes = 0  # number of times a name was given or revoked

    def __len__(self) -> int:
        return len(self._names)

    def name(self, rooms: RegionMap, region: int, point: np.ndarray | None, label: str) -> Region:
        """Name a region and return it with its new name; label "" revokes the operator's name.

        region: id, 0 = the region at `point`. Raises UnknownRegion, BadRegionName.
        """
        if region == 0 and point is not None:
            region = int(rooms.at(np.asarray(point, float)[None, :2])[0])
        found = rooms.regions.get(region)
        if found is None:
            raise UnknownRegion("there is no such region; scene_dictionary/regions has those that are known")
        said = clean_text(label).strip()
        if said and not any(c.isalpha() for c in said):
            raise BadRegionName("a room's name needs a letter")
        if len(said) > MAX_LABEL:
            raise BadRegionName(f"a room's name has {len(said)} characters; {MAX_LABEL} at most")
        kept = [(word, place) for word, place in self._names if int(rooms.at(place[None])[0]) != region]
        if said and len(kept) >= MAX_NAMES:
            raise BadRegionName(f"{MAX_NAMES} rooms have names already; take one back first")
        at = np.asarray(found.centroid if point is None else point, float)[:2]
        self.changes += 1
        self._names = [*kept, (said, _inside(rooms, region, at))] if said else kept
        changes = {"label": said, "label_weight": 1.0, "named": True} if said else {"named": False}
        named = replace(found, **changes)
        rooms.regions[region] = named
        return named

    def applied(self, rooms: RegionMap, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        """Return the regions with operators' names in place of their computed labels.

        If a region has several names, the newest counts.
        """
        words: dict[int, str] = {}
        for word, place in self._names:
            words[int(rooms.at(place[None])[0])] = word
        return tuple(
            replace(region, label=words[region.id], label_weight=1.0, named=True)
            if region.id in words
            else region
            for region in regions
        )

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map: each name moves with its part of the map."""
        self._names = [(word, correction.moved_place(place)) for word, place in self._names]

    def to_meta(self) -> list[list[Any]]:
        """Return the names as plain data for a saved map."""
        return [[word, float(place[0]), float(place[1])] for word, place in self._names]

    @staticmethod
    def of_meta(meta: Mapping[str, Any]) -> RegionNames:
        """Return the names in the meta data of a saved map; empty if it has none.

        Raises ValueError, TypeError for invalid data.
        """
        names = RegionNames()
        for word, x, y in meta.get("region_names", ()):
            place = np.array([float(x), float(y)])
            if not np.isfinite(place).all():
                raise ValueError("a region's name lies nowhere")
            names._names.append((clean_text(str(word))[:MAX_LABEL], place))
        return names


def _inside(rooms: RegionMap, region: int, point: np.ndarray) -> np.ndarray:
    """Return the point if it lies in the region, else the nearest place in the region.

    The centroid of a region, for example, may lie outside.
    """
    if int(rooms.at(point[None])[0]) == region:
        return point
    places = rooms.places_of(region)
    return places[np.linalg.norm(places - point, axis=1).argmin()] if len(places) else point
