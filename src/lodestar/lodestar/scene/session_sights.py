"""Objects of two sessions of one map to compare, and whether each session observed the other's places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.geometry.boxes import transform_box
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.category_priors import CategoryPriors
from lodestar.scene.change_pairs import Sight
from lodestar.scene.lifecycle import APPEARANCE
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.regions import RegionMap
from lodestar.scene.session_changes import ThingChange, compare_sessions

# metres per axis of the error of a place: a part that is fixed, and one that grows with the thing's extent; chosen
CHANGE_PLACE_ERROR = 0.05
CHANGE_EXTENT_ERROR = 0.1  # per metre of extent
CHANGE_ELAPSED = 86_400.0  # seconds between two sessions if that time is unknown; chosen: a day

_BLIND = 0.5  # probability that a place was in view if unknown; chosen


class OtherMap(ValueError):
    """Error: the sessions have no common map. The message says what to do."""


def same_place(identity: int) -> int:
    """Return the id unchanged: the default `resolve` of a session without merges."""
    return identity


@dataclass(frozen=True)
class SessionScene:
    """One session's knowledge of a map.

    session: its name; the part before a "+" names the map. saved: seconds since the epoch, nan = unknown.
    grid: the observed area, None = unknown. resolve: returns the current id of an entity after merges.
    """

    entities: Mapping[int, Entity]
    map_id: int
    session: str
    saved: float = float("nan")
    regions: Mapping[int, Region] = field(default_factory=dict)
    rooms: RegionMap | None = None
    grid: OccupancyGrid2D | None = None
    resolve: Callable[[int], int] = same_place

    @property
    def map_name(self) -> tuple[int, str]:
        """Return the map id and name, which are the same for all sessions of one map."""
        return self.map_id, self.session.split("+")[0].split(".")[0]

    def moved(self, jump: np.ndarray) -> SessionScene:
        """Return the scene after a correction (4, 4) of the map.

        Its grid, which is not valid any more, is dropped.
        """
        boxes = {i: transform_box(jump, e.box_min, e.box_max) for i, e in self.entities.items()}
        moved = {i: replace(e, box_min=boxes[i][0], box_max=boxes[i][1]) for i, e in self.entities.items()}
        return replace(self, entities=moved, grid=None)

    def room_at(self, place: np.ndarray) -> str:
        """Return the name of the room at a place (2+,); "" if it has none."""
        region = 0 if self.rooms is None else int(self.rooms.at(np.asarray(place, float)[None])[0])
        return self.regions[region].label if region in self.regions else ""


def sights_of(
    before: SessionScene, after: SessionScene, priors: CategoryPriors, same_frame: bool = False
) -> tuple[list[Sight], list[Sight]]:
    """Return the objects of both sessions as `Sight`s, without people and animals, which move anyway.

    If one session continues the other's map, ids are kept: an entity without new observations was not seen
    again, and a lower confidence means that its place was observed without it. same_frame: the maps were
    built separately in one coordinate frame; then the grids tell which places each session observed. Raises
    OtherMap.
    """
    if same_frame:
        one = [_sight(e, _looked(after.grid, e)) for e in _present(before, priors)]
        return one, [_sight(e, _looked(before.grid, e)) for e in _present(after, priors)]
    if before.map_name != after.map_name:
        raise OtherMap(
            "the two sessions are of different maps, so that their coordinates have nothing in common. Compare "
            "sessions of which one has loaded the other's map, or say that both maps have one frame (--same-frame)"
        )
    earlier = []
    seen_again: set[int] = set()
    for entity in _present(before, priors):
        now = after.entities.get(after.resolve(entity.id))
        if now is None:  # a false instance, which was removed
            continue
        if _observed_again(entity, now):
            seen_again.add(now.id)
            earlier.append(_sight(entity, 1.0, now.id))
        else:
            earlier.append(_sight(entity, _looked_in_vain(entity, now)))
    known = {after.resolve(identity) for identity in before.entities}
    later = []
    for entity in _present(after, priors):
        if entity.id in seen_again:
            later.append(_sight(entity, 1.0, entity.id))
        elif entity.id not in known:
            later.append(_sight(entity, _looked(before.grid, entity)))
        elif before.entities.get(entity.id, entity).state is EntityState.ARCHIVED:
            later.append(_sight(entity, 1.0))  # known to be gone before, and seen again
    return earlier, later


def _present(scene: SessionScene, priors: CategoryPriors) -> list[Entity]:
    return [
        entity
        for _, entity in sorted(scene.entities.items())
        if entity.state is not EntityState.ARCHIVED and not priors.of(entity.label).moves_by_itself
    ]


def _observed_again(before: Entity, now: Entity) -> bool:
    return now.state is not EntityState.ARCHIVED and now.observation_count > before.observation_count


def _looked_in_vain(before: Entity, now: Entity) -> float:
    """Return the probability that an entity's place was in view while it was not seen.

    It is 1 if the entity is archived, else it follows from the drop of its confidence.
    """
    if now.state is EntityState.ARCHIVED:
        return 1.0
    return float(np.clip(1.0 - now.confidence / max(before.confidence, 1e-6), 0.0, 1.0))


def _looked(grid: OccupancyGrid2D | None, entity: Entity) -> float:
    """Return the probability that a session has observed the place of an entity.

    It is the share of known grid cells under the entity.
    """
    if grid is None:
        return _BLIND
    low = grid.cells_of(np.asarray(entity.box_min, float)[None, :2])[0]
    high = grid.cells_of(np.asarray(entity.box_max, float)[None, :2])[0] + 1
    top, left = np.maximum(low, 0)
    window = grid.cells[top : max(int(high[0]), 0), left : max(int(high[1]), 0)]
    return float((window >= 0).sum()) / max(int(np.prod(high - low)), 1)


def _sight(entity: Entity, watched: float, kept: int = 0) -> Sight:
    size = np.maximum(np.asarray(entity.box_max, float) - np.asarray(entity.box_min, float), 0.0)
    error = CHANGE_PLACE_ERROR**2 + (CHANGE_EXTENT_ERROR * size) ** 2
    return Sight(
        kept or entity.id,
        entity.label,
        (np.asarray(entity.box_min, float) + np.asarray(entity.box_max, float)) / 2.0,
        np.diag(error),
        float(size.max()) if size.max() > 0.0 else float("nan"),
        entity.caption,
        entity.embeddings.get(APPEARANCE),
        watched,
        kept > 0,
    )


def changes_between(
    before: SessionScene,
    after: SessionScene,
    elapsed: float,
    priors: CategoryPriors,
    same_frame: bool = False,
) -> list[ThingChange]:
    """Return the change of each object between two sessions; see `sights_of`. Raises OtherMap.

    elapsed: seconds; if unknown, CHANGE_ELAPSED is used.
    """
    earlier, later = sights_of(before, after, priors, same_frame)
    if not (np.isfinite(elapsed) and elapsed > 0.0):
        elapsed = CHANGE_ELAPSED
    return compare_sessions(earlier, later, elapsed, priors)
