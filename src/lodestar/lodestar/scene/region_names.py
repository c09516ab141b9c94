"""Operators' words for regions; each is tied to a place, because regions grow, merge and are found anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap

MAX_LABEL = 60  # characters
MAX_NAMES = 1000  # of one map


class BadRegionName(ValueError):
    """The word or the region will not do; the message says what will."""


class UnknownRegion(BadRegionName):
    """There is no such region."""


class RegionNames:
    """Words by the place (2,) in map at which they were given."""

    def __init__(self) -> None:
        self._names: list[tuple[str, np.ndarray]] = []
        self.changes = 0  # how often a name was given or taken back

    def __len__(self) -> int:
        return len(self._names)

    def name(self, rooms: RegionMap, region: int, point: np.ndarray | None, label: str) -> Region:
        """The region as it is called from now on; "" takes the operator's word back.

        region: id, 0 = the one at `point`. Raises UnknownRegion, BadRegionName.
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
        """The regions with operators' words in the place of what their contents say; the newest word counts."""
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
        """Follow a correction of the map: each name with the part that it lies in."""
        self._names = [(word, correction.moved_place(place)) for word, place in self._names]

    def to_meta(self) -> list[list[Any]]:
        """Plain data for a saved map."""
        return [[word, float(place[0]), float(place[1])] for word, place in self._names]

    @staticmethod
    def of_meta(meta: Mapping[str, Any]) -> RegionNames:
        """The names of a saved map; one without any has none. Raises ValueError, TypeError for what are none."""
        names = RegionNames()
        for word, x, y in meta.get("region_names", ()):
            place = np.array([float(x), float(y)])
            if not np.isfinite(place).all():
                raise ValueError("a region's name lies nowhere")
            names._names.append((clean_text(str(word))[:MAX_LABEL], place))
        return names


def _inside(rooms: RegionMap, region: int, point: np.ndarray) -> np.ndarray:
    """The point where it lies in the region, else the nearest place that does; a centroid may lie outside."""
    if int(rooms.at(point[None])[0]) == region:
        return point
    places = rooms.places_of(region)
    return places[np.linalg.norm(places - point, axis=1).argmin()] if len(places) else point
