"""Keep-out masks from the constraint field and from rooms, as stated by a person."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from lodestar.grid.inflation import distance_to
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.mapping.pillars import PillarMap
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.query.config import QueryConfig
from lodestar.query.fields import SimilarityFields, graphs_of, layer_texts, related_ids
from lodestar.scene.records import Entity, Region
from lodestar.scene.regions import RegionMap


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
    widest = math.hypot(*mask.shape)
    margin = max(1, int(np.ceil(min(distance / grid.resolution, widest))) + 1)
    points = np.array(pillars.origin) + (cells[:, ::-1] + 0.5) * pillars.resolution
    places = grid.cells_of(points) + margin  # zones may extend onto the grid from outside
    wide = np.pad(mask, margin)
    inside = ((places >= 0) & (places < wide.shape)).all(axis=1)
    wide[places[inside, 0], places[inside, 1]] = True
    reach = distance + (grid.resolution + pillars.resolution) / np.sqrt(2.0)
    return (distance_to(wide, grid.resolution) <= reach)[margin:-margin, margin:-margin]


def room_of(text: str) -> str | None:
    """Return the room that a constraint names, or None. "The kitchen area on the left" means every kitchen."""
    graphs = graphs_of(text)
    return load_lexicon().room_in(graphs[0].target.category or text) if graphs else None


def room_mask(
    wanted: Collection[str], regions: Mapping[int, Region], rooms: RegionMap, grid: OccupancyGrid2D
) -> np.ndarray:
    """Return (rows, columns) bool on the grid: cells of the regions labelled as one of the rooms `wanted`."""
    mask, lexicon = np.zeros(grid.cells.shape, bool), load_lexicon()
    meant = [
        region.id for region in regions.values() if (lexicon.room(region.label) or region.label) in wanted
    ]
    if not meant:
        return mask
    points = grid.points_of(np.argwhere(~mask))
    return np.isin(rooms.at(points), meant).reshape(mask.shape)


UNARY = ("IsCategory", "HasAttribute")  # predicates covered by the semantic score


class KeepOutZones:
    """Keep the mask of a directive's constraints up to date. Not thread-safe.

    The robot keeps the directive's distance from objects and does not enter rooms.
    """

    def __init__(self, phrases: PhraseBook, config: QueryConfig | None = None) -> None:
        self.fields = SimilarityFields(phrases, config)
        self._phrases, self._config = phrases, config or QueryConfig()
        self._texts: tuple[str, ...] = ()
        self._rooms: frozenset[str] = frozenset()
        self._distance = 0.0

    @property
    def active(self) -> bool:
        """Tell whether there are constraints."""
        return bool(self._texts or self._rooms)

    def follow(self, directive: Directive | None) -> None:
        """Set the constraints of the directive."""
        texts = () if directive is None else layer_texts(directive)["constraint"]
        self._rooms = frozenset(room for text in texts if (room := room_of(text)))
        self._texts = tuple(text for text in texts if not room_of(text))
        self._distance = 0.0 if directive is None else directive.keep_away_distance

    def field(
        self, entities: Mapping[int, Entity], pillars: PillarMap, regions: Mapping[int, Region] | None = None
    ) -> np.ndarray:
        """Return the constraint field: similarity, and 0 where a constraint's relations are known not to hold.

        Raises MissingPhrases.
        """
        self.fields.follow(entities)
        field = self.fields.field("constraint", self._texts, pillars)
        predicates = (p.name for text in self._texts for graph in graphs_of(text) for p in graph.predicates)
        if all(name in UNARY for name in predicates):
            return field
        meant = related_ids(self._texts, entities, self._phrases, self._config, regions)
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
        field = self.field(entities, pillars, regions)
        mask = keep_out_mask(field, pillars, self._config.accept, self._distance, grid)
        if self._rooms and regions and rooms is not None:
            mask |= room_mask(self._rooms, regions, rooms, grid)
        return mask
