"""Agreement of two robots on the grid, the scene entities, and the goals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.geometry.boxes import box_iou
from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.scene.records import Entity, EntityState
from lodestar_eval.instance_metrics import f1

LEAST_IOU = 0.25  # least box IoU for two entities to match
GOAL_DISTANCE = 0.5  # metres, greatest distance of goals that count as equal
GOAL_ANGLE = np.deg2rad(20.0)
_THINNEST = 0.1  # metres, least side of compared boxes; thinner ones are grown


@dataclass(frozen=True)
class EntityAgreement:
    """Counts of entities: found in both scenes, missed (only in the live one), spurious (only headless)."""

    found: int
    missed: int
    spurious: int

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall; NaN if neither scene has an entity."""
        return f1(self.found, self.spurious, self.missed)


def grid_agreement(live: OccupancyGrid2D, headless: OccupancyGrid2D) -> float:
    """Return the share of equal states (unknown, free, occupied) among the cells known in either grid.

    NaN if neither grid knows a cell. Raises ValueError for different resolutions.
    """
    if abs(live.resolution - headless.resolution) > 1e-6:
        raise ValueError(f"the grids have cells of {live.resolution} m and {headless.resolution} m")
    canvas = _around(live, headless)
    a, b = (_states(grid, canvas) for grid in (live, headless))
    known = (a != UNKNOWN) | (b != UNKNOWN)
    return float((a == b)[known].mean()) if known.any() else float("nan")


def _around(*grids: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return an unknown grid that covers all given grids."""
    resolution = grids[0].resolution
    low = np.min([grid.origin for grid in grids], axis=0)
    high = np.max(
        [np.add(grid.origin, np.array(grid.cells.shape[::-1]) * resolution) for grid in grids], axis=0
    )
    columns, rows = np.ceil((high - low) / resolution - 1e-6).astype(int)
    cells = np.full((rows, columns), UNKNOWN, np.int8)
    return OccupancyGrid2D(cells, resolution, (float(low[0]), float(low[1])))


def _states(grid: OccupancyGrid2D, canvas: OccupancyGrid2D) -> np.ndarray:
    """Return the grid's states on the cells of `canvas`: -1 unknown, 0 free, 1 occupied."""
    states = np.where(grid.unknown, UNKNOWN, grid.occupied.astype(np.int8)).astype(np.int8)
    return carried_over(states, grid, canvas, UNKNOWN)


def entity_agreement(live: Collection[Entity], headless: Collection[Entity]) -> EntityAgreement:
    """Match active entities one to one by noun and box IoU of at least LEAST_IOU, ignoring ids; return the counts."""
    ours, theirs = ([e for e in side if e.state is EntityState.ACTIVE] for side in (live, headless))
    if not ours or not theirs:
        return EntityAgreement(0, len(ours), len(theirs))
    overlap = box_iou(*_boxes(ours, 1), *_boxes(theirs, 0))
    same = np.array([[_noun(a) == _noun(b) for b in theirs] for a in ours])
    value = np.where(same & (overlap >= LEAST_IOU), 1.0 + overlap, 0.0)
    rows, columns = linear_sum_assignment(value, maximize=True)
    found = int((value[rows, columns] > 0.0).sum())
    return EntityAgreement(found, len(ours) - found, len(theirs) - found)


def counterpart(entity: Entity, others: Collection[Entity]) -> Entity | None:
    """Return the entity in `others` with the same noun and the largest box IoU, at least LEAST_IOU; else None."""
    same = [other for other in others if _noun(other) == _noun(entity)]
    if not same:
        return None
    overlap = box_iou(*_boxes([entity], 1), *_boxes(same, 0))[0]
    best = int(overlap.argmax())
    return same[best] if overlap[best] >= LEAST_IOU else None


def _boxes(entities: Sequence[Entity], axis: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.array([getattr(e, name) for e in entities], float) for name in ("box_min", "box_max"))
    grow = np.maximum(_THINNEST - (high - low), 0.0) / 2.0
    return np.expand_dims(low - grow, axis), np.expand_dims(high + grow, axis)


def _noun(entity: Entity) -> str:
    """Return the noun of an entity's label: "red chair" gives "chair"."""
    lexicon, words = load_lexicon(), words_of(entity.label)
    length = lexicon.known_suffix(words)
    return lexicon.canonical(" ".join(words[-length:])) or entity.label if length else entity.label


def goals_equal(live: np.ndarray, headless: np.ndarray) -> bool:
    """Return whether two goals (3,) x, y, yaw lie within GOAL_DISTANCE and GOAL_ANGLE of each other."""
    turn = (live[2] - headless[2] + np.pi) % (2.0 * np.pi) - np.pi
    return bool(np.hypot(*(live[:2] - headless[:2])) <= GOAL_DISTANCE and abs(turn) <= GOAL_ANGLE)
