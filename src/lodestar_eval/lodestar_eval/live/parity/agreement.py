"""Agreement of two robots on the grid, on the things in it, and on where to go."""

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

LEAST_IOU = 0.25  # from which on two boxes are one thing
GOAL_DISTANCE = 0.5  # m between two goals that count as equal
GOAL_ANGLE = np.deg2rad(20.0)
_THINNEST = 0.1  # m, to which thin boxes are grown before they are compared


@dataclass(frozen=True)
class EntityAgreement:
    """Things of the live scene that the headless one has too (`found`), lacks (`missed`), has alone (`spurious`)."""

    found: int
    missed: int
    spurious: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN where neither scene has a thing."""
        return f1(self.found, self.spurious, self.missed)


def grid_agreement(live: OccupancyGrid2D, headless: OccupancyGrid2D) -> float:
    """Share of the cells that either grid knows on which both say the same: unknown, free or occupied.

    NaN where neither knows a cell. Raises ValueError for different resolutions.
    """
    if abs(live.resolution - headless.resolution) > 1e-6:
        raise ValueError(f"the grids have cells of {live.resolution} m and {headless.resolution} m")
    canvas = _around(live, headless)
    a, b = (_states(grid, canvas) for grid in (live, headless))
    known = (a != UNKNOWN) | (b != UNKNOWN)
    return float((a == b)[known].mean()) if known.any() else float("nan")


def _around(*grids: OccupancyGrid2D) -> OccupancyGrid2D:
    """An unknown grid that covers all of these."""
    resolution = grids[0].resolution
    low = np.min([grid.origin for grid in grids], axis=0)
    high = np.max(
        [np.add(grid.origin, np.array(grid.cells.shape[::-1]) * resolution) for grid in grids], axis=0
    )
    columns, rows = np.ceil((high - low) / resolution - 1e-6).astype(int)
    cells = np.full((rows, columns), UNKNOWN, np.int8)
    return OccupancyGrid2D(cells, resolution, (float(low[0]), float(low[1])))


def _states(grid: OccupancyGrid2D, canvas: OccupancyGrid2D) -> np.ndarray:
    """Per cell of the canvas: -1 unknown, 0 free, 1 occupied."""
    states = np.where(grid.unknown, UNKNOWN, grid.occupied.astype(np.int8)).astype(np.int8)
    return carried_over(states, grid, canvas, UNKNOWN)


def entity_agreement(live: Collection[Entity], headless: Collection[Entity]) -> EntityAgreement:
    """One-to-one matches of active entities with the same noun and boxes of at least LEAST_IOU; ids do not count."""
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
    """The other that is this thing: of the same noun, with the box that overlaps most, by LEAST_IOU at least."""
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
    """The noun of an entity's label, by which "red chair" and "chair" are one."""
    lexicon, words = load_lexicon(), words_of(entity.label)
    length = lexicon.known_suffix(words)
    return lexicon.canonical(" ".join(words[-length:])) or entity.label if length else entity.label


def goals_equal(live: np.ndarray, headless: np.ndarray) -> bool:
    """Whether two goals (3,) x, y, yaw lie within GOAL_DISTANCE and GOAL_ANGLE of each other."""
    turn = (live[2] - headless[2] + np.pi) % (2.0 * np.pi) - np.pi
    return bool(np.hypot(*(live[:2] - headless[:2])) <= GOAL_DISTANCE and abs(turn) <= GOAL_ANGLE)
