"""Similarity layers (scores over the map) and keep-out zones, recomputed when their inputs change.

The zones come from the directive, the configured fence, and areas that operators have closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lodestar.grid.config import FenceConfig
from lodestar.grid.fence import inside, outside, widened
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import occupied_onto
from lodestar.language.directive import DEFAULT_KEEP_AWAY, Directive
from lodestar.mapping.instances.pillars import PillarMap
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.config import QueryConfig
from lodestar.query.fields import layer_queries
from lodestar.query.keep_out import KeepOutZones
from lodestar.scene.records import Entity, Region
from lodestar.scene.regions import RegionMap
from lodestar.worldmodel.amendments import ClosedWay

NO_FENCE = FenceConfig()
_NOTHING: tuple = (-1, None, None, None, ())  # before the first inputs


class FieldScene(Protocol):
    """Interface to the scene's rooms and entities, for computing keep-out zones and similarity layers."""

    @property
    def revision(self) -> int: ...

    @property
    def regions(self) -> Mapping[int, Region]: ...

    @property
    def rooms(self) -> RegionMap: ...

    def entities(self) -> Mapping[int, Entity]: ...


@dataclass(frozen=True)
class FieldUpdate:
    """Similarity layers and keep-out zones that have changed.

    layers: name -> (rows, columns) float32 scores on the cells of `pillars`. zones: grid like the plan grid,
    with forbidden cells occupied; None = unchanged. missing: phrases without vectors, because of which the
    layers and the directive's part of the zones were not updated; None = all were updated.
    """

    layers: Mapping[str, np.ndarray] = field(default_factory=dict)
    zones: OccupancyGrid2D | None = None
    pillars: PillarMap | None = None
    missing: MissingPhrases | None = None


class DirectiveFields:
    """Computes the similarity layers and keep-out zones of a directive over the map. Not thread-safe.

    keep_away: default distance in metres to forbidden objects. fence: area that the robot must not leave,
    also without a directive.
    """

    def __init__(
        self,
        phrases: PhraseBook,
        config: QueryConfig,
        keep_away: float = DEFAULT_KEEP_AWAY,
        fence: FenceConfig = NO_FENCE,
    ) -> None:
        self._fence = fence
        self._keep_out = KeepOutZones(phrases, config, keep_away)
        self._followed: Directive | None = None
        self._state = _NOTHING
        self._zones: OccupancyGrid2D | None = None
        self._told: OccupancyGrid2D | None = None  # the directive's part of the zones

    @property
    def is_fenced(self) -> bool:
        """Return whether a fence is configured."""
        return bool(self._fence.corners)

    def refresh(
        self,
        scene: FieldScene,
        directive: Directive | None,
        pillars: PillarMap | None,
        grid: OccupancyGrid2D | None,
        areas: tuple[ClosedWay, ...] = (),
        *,
        stamp: float,
        layers: bool = True,
    ) -> FieldUpdate | None:
        """Return the changes since the last call; None if no input has changed.

        areas: areas that the robot may not enter. layers: whether to compute the similarity layers too. While
        vectors of phrases are missing, fence and areas are still applied, the directive's last zones are
        kept, and the next call retries.
        """
        state = (scene.revision, directive, pillars, grid, areas)
        if state[0] == self._state[0] and all(a is b for a, b in zip(state[1:], self._state[1:])):
            return None
        self._follow(directive)
        drawn: dict[str, np.ndarray] = {}
        mask, missing = None, None
        if grid is not None and self.is_fenced:
            grid = widened(grid, self._fence.ahead)
            mask = outside(self._fence, grid)
        if grid is not None:
            for one in areas:
                mask = _both(mask, inside(one.area, grid))
        if directive is None or pillars is None:
            self._told = None
        else:
            try:
                if grid is not None:
                    self._told = self._tell(grid, pillars, scene)
                if layers:
                    drawn = self._layers(directive, pillars, scene)
            except MissingPhrases as error:
                missing = error
        if grid is not None and self._told is not None:
            mask = _both(mask, occupied_onto(grid, self._told))
        zones = None if grid is None else self._changed_zones(grid, mask, stamp)
        self._state = state if missing is None else _NOTHING
        return FieldUpdate(drawn, zones, pillars, missing)

    def _follow(self, directive: Directive | None) -> None:
        """Use the constraints of this directive from now on; drop the old zones if the constraints differ."""
        before = self._followed
        if directive is before:
            return
        if directive is None or before is None or directive.constraints != before.constraints:
            self._told = None
        self._keep_out.follow(directive)
        self._followed = directive

    def _tell(self, grid: OccupancyGrid2D, pillars: PillarMap, scene: FieldScene) -> OccupancyGrid2D | None:
        """Return the grid with the directive's keep-out zones as occupied cells; None if the directive has no
        constraints.
        """
        mask = self._keep_out.mask(grid, scene.entities(), pillars, scene.regions, scene.rooms)
        return None if mask is None else replace(grid, cells=_occupied(mask), keep_out=None)

    def _layers(self, directive: Directive, pillars: PillarMap, scene: FieldScene) -> dict[str, np.ndarray]:
        entities = scene.entities()
        self._keep_out.fields.follow(entities)
        drawn = {
            layer: self._keep_out.fields.field(layer, queries, pillars)
            for layer, queries in layer_queries(directive).items()
            if layer != "constraint"
        }
        return {**drawn, "constraint": self._keep_out.field(entities, pillars, scene.regions)}

    def _changed_zones(
        self, grid: OccupancyGrid2D, mask: np.ndarray | None, stamp: float
    ) -> OccupancyGrid2D | None:
        """Return the zones as a grid if they differ from the last ones or are the first, else None."""
        cells = _occupied(np.zeros(grid.cells.shape, bool) if mask is None else mask)
        shown = self._zones
        if shown is not None:
            none_yet = not cells.any() and not shown.cells.any()
            if none_yet or (np.array_equal(shown.cells, cells) and shown.origin == grid.origin):
                return None
        self._zones = OccupancyGrid2D(cells, grid.resolution, grid.origin, stamp, grid.frame)
        return self._zones


def _occupied(barred: np.ndarray) -> np.ndarray:
    return np.where(barred, np.int8(OCCUPIED), np.int8(FREE))


def _both(mask: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """Return the union of two masks; None if both are None."""
    if mask is None or other is None:
        return other if mask is None else mask
    return mask | other
