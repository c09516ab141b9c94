"""Keep-out masks on the grid, from the constraint field and from rooms that a person named."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations, product

import cv2
import numpy as np

from lodestar.geometry.boxes import box_distance
from lodestar.grid.inflation import distance_to
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import DEFAULT_KEEP_AWAY, Constraint, ConstraintKind, Directive
from lodestar.language.query_graph import QueryGraph
from lodestar.mapping.instances.pillars import PillarMap
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.query.config import QueryConfig
from lodestar.query.fields import Query, SimilarityFields, related_ids
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.regions import RegionMap, is_called

# m between two things up to which a forbidden path may run between them; chosen: the width of a large room
QUERY_PATH_REACH = 8.0


def keep_out_mask(
    field: np.ndarray, pillars: PillarMap, accept: float, distance: float, grid: OccupancyGrid2D
) -> np.ndarray:
    """Return (rows, columns) bool on the grid: cells within `distance` metres of one where the field is >= `accept`.

    field: (rows, columns) of the pillars, scores in [0, 1]. Half the diagonal of a cell is added on either side,
    so that the distance holds between the contents of the cells. Pillars farther from the grid than its diagonal are
    ignored.
    """
    mask = np.zeros(grid.cells.shape, bool)
    cells = np.argwhere(field >= accept)
    if not len(cells):
        return mask
    reach = distance + (grid.resolution + pillars.resolution) / np.sqrt(2.0)
    widest = math.hypot(*mask.shape)
    margin = int(np.ceil(min(reach / grid.resolution, widest))) + 1
    points = np.array(pillars.origin) + (cells[:, ::-1] + 0.5) * pillars.resolution
    places = grid.cells_of(points) + margin  # zones may extend onto the grid from outside
    wide = np.pad(mask, margin)
    inside = ((places >= 0) & (places < wide.shape)).all(axis=1)
    wide[places[inside, 0], places[inside, 1]] = True
    return (distance_to(wide, grid.resolution) <= reach)[margin:-margin, margin:-margin]


def path_mask(one: Entity, other: Entity, margin: float, grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool on the grid: cells within `margin` metres of the strip between two boxes in plan."""
    corners = [
        (x, y)
        for entity in (one, other)
        for x in (float(entity.box_min[0]), float(entity.box_max[0]))
        for y in (float(entity.box_min[1]), float(entity.box_max[1]))
    ]
    cells = grid.cells_of(np.array(corners))[:, ::-1]  # columns first, as OpenCV counts
    strip = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillConvexPoly(strip, cv2.convexHull(cells.astype(np.int32)), 1)
    mask = strip.astype(bool)
    if not mask.any() or margin <= 0.0:
        return mask
    return distance_to(mask, grid.resolution) <= margin


def room_mask(
    wanted: Collection[str], regions: Mapping[int, Region], rooms: RegionMap, grid: OccupancyGrid2D
) -> np.ndarray:
    """Return (rows, columns) bool on the grid: cells of the regions labelled as one of the rooms `wanted`."""
    mask = np.zeros(grid.cells.shape, bool)
    meant = [region.id for region in regions.values() if is_called(region, wanted)]
    if not meant:
        return mask
    points = grid.points_of(np.argwhere(~mask))
    return np.isin(rooms.at(points), meant).reshape(mask.shape)


UNARY = ("IsCategory", "HasAttribute")  # predicates covered by the semantic score


class KeepOutZones:
    """Keep-out mask of a directive's constraints, updated with the scene. Not thread-safe.

    The robot keeps each constraint's distance from objects, `default` metres if it has none, does not enter
    rooms and does not cross paths.
    """

    def __init__(
        self, phrases: PhraseBook, config: QueryConfig | None = None, default: float = DEFAULT_KEEP_AWAY
    ) -> None:
        self.fields = SimilarityFields(phrases, config)
        self._phrases, self._config, self._default = phrases, config or QueryConfig(), default
        self._things: dict[float, tuple[Query, ...]] = {}  # distance in metres -> queries of objects
        self._paths: tuple[tuple[QueryGraph, float], ...] = ()  # (path, metres beside its strip)
        self._rooms: frozenset[str] = frozenset()

    @property
    def active(self) -> bool:
        """Return whether there are constraints."""
        return bool(self._things or self._paths or self._rooms)

    def follow(self, directive: Directive | None) -> None:
        """Set the constraints to those of the directive; all of them hold at once."""
        constraints = () if directive is None else directive.constraints
        self._rooms = frozenset(
            room for c in constraints if c.kind is ConstraintKind.STAY_OUT for room in _rooms_of(c)
        )
        kept = [c for c in constraints if c.kind is ConstraintKind.KEEP_AWAY]
        self._paths = tuple(
            (graph, c.distance or 0.0) for c in kept for graph in c.item.best if graph.path_ends
        )
        things: defaultdict[float, dict[Query, None]] = defaultdict(dict)
        for constraint in kept:
            query = tuple(graph for graph in constraint.item.graphs if not graph.path_ends)
            if query:
                things[self._default if constraint.distance is None else constraint.distance][query] = None
        self._things = {distance: tuple(queries) for distance, queries in things.items()}

    def field(
        self, entities: Mapping[int, Entity], pillars: PillarMap, regions: Mapping[int, Region] | None = None
    ) -> np.ndarray:
        """Return the constraint field: similarity, and 0 where a constraint's relations are known not to hold.

        Raises MissingPhrases.
        """
        self.fields.follow(entities)
        best = np.zeros(pillars.ids.shape[1:], np.float32)
        for distance in self._things:
            best = np.maximum(best, self._field_at(distance, entities, pillars, regions))
        return best

    def _field_at(
        self,
        distance: float,
        entities: Mapping[int, Entity],
        pillars: PillarMap,
        regions: Mapping[int, Region] | None,
    ) -> np.ndarray:
        """Return the constraint field of the objects to keep this distance from."""
        queries = self._things[distance]
        field = self.fields.field(f"constraint {distance:g}", queries, pillars)
        predicates = (p.name for query in queries for graph in query for p in graph.predicates)
        if all(name in UNARY for name in predicates):
            return field
        meant = related_ids(queries, entities, self._phrases, self._config, regions)
        flags = np.zeros(int(pillars.ids.max(initial=0)) + 1, bool)
        flags[[i for i in meant if i < len(flags)]] = True
        return np.where(flags[pillars.ids].any(axis=0), np.maximum(field, self._config.accept), 0.0).astype(
            np.float32
        )

    def mask(
        self,
        grid: OccupancyGrid2D,
        entities: Mapping[int, Entity],
        pillars: PillarMap,
        regions: Mapping[int, Region] | None = None,
        rooms: RegionMap | None = None,
    ) -> np.ndarray | None:
        """Return (rows, columns) bool on the grid, or None without constraints. Raises MissingPhrases.

        rooms: cells of the regions; without it no room is barred.
        """
        if not self.active:
            return None
        self.fields.follow(entities)
        mask = np.zeros(grid.cells.shape, bool)
        for distance in self._things:
            field = self._field_at(distance, entities, pillars, regions)
            mask |= keep_out_mask(field, pillars, self._config.accept, distance, grid)
        for path, beside in self._paths:
            for one, other in self._ends_of(path, entities, regions):
                mask |= path_mask(one, other, beside, grid)
        if self._rooms and regions and rooms is not None:
            mask |= room_mask(self._rooms, regions, rooms, grid)
        return mask

    def _ends_of(
        self, path: QueryGraph, entities: Mapping[int, Entity], regions: Mapping[int, Region] | None
    ) -> list[tuple[Entity, Entity]]:
        """Return the pairs of objects that the path may run between.

        These are all pairs within QUERY_PATH_REACH, or else the nearest pair.
        """
        meant = []
        for end in path.path_ends[:2]:
            ids = related_ids([(path.of_variable(end),)], entities, self._phrases, self._config, regions)
            meant.append([entities[i] for i in sorted(ids) if entities[i].state is not EntityState.ARCHIVED])
        pairs = list(combinations(meant[0], 2) if len(meant) == 1 else product(*meant))
        gaps = {
            (one.id, other.id): float(
                box_distance(one.box_min[:2], one.box_max[:2], other.box_min[:2], other.box_max[:2])
            )
            for one, other in pairs
            if one.id != other.id
        }
        reach = max(QUERY_PATH_REACH, min(gaps.values(), default=0.0))
        return [(entities[a], entities[b]) for (a, b), gap in gaps.items() if gap <= reach]


def _rooms_of(constraint: Constraint) -> tuple[str, ...]:
    """Return the canonical names of the rooms that a constraint forbids to enter."""
    lexicon = load_lexicon()
    named = (graph.target.category for graph in constraint.item.graphs)
    return tuple(dict.fromkeys(lexicon.room(name) or name for name in named))
