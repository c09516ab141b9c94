"""From instances to entities, rooms, moved things, and the layers and zones of a directive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import SceneDictionaryConfig
from lodestar.assembly.directive_fields import DirectiveFields, FieldUpdate
from lodestar.assembly.shared import SharedConfig
from lodestar.floors.records import Building
from lodestar.grid.comfort import with_comfort
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.mapping.mover_tracks import MoverTrack, without_outdated
from lodestar.mapping.pillars import PillarMap
from lodestar.mapping.records import InstanceDelta
from lodestar.models.phrases import PhraseBook
from lodestar.perception.signs import SignReading
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.enrichment import Captioner, Enricher, EnrichmentTask, TemplateCaptioner
from lodestar.scene.moved_things import MovedThings
from lodestar.scene.persistence import SavedScene, scene_from_archive, scene_part
from lodestar.scene.records import Entity, Region, SceneDelta
from lodestar.scene.regions import RegionMap
from lodestar.scene.signs import is_sign
from lodestar.storage.archive import Archive
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.saved_map import ArchivePart, next_session
from lodestar.worldmodel.amendments import Amendment, ClosedWay
from lodestar.worldmodel.scene_edits import SceneAmended
from lodestar.worldmodel.scene_journal import Request, SceneJournal


@dataclass(frozen=True)
class FoundRooms:
    """The rooms of a grid. mask: (rows, columns) uint16 ids, 0 = none. revision: of the scene before its change."""

    grid: OccupancyGrid2D
    mask: np.ndarray
    regions: tuple[Region, ...]
    revision: int
    delta: SceneDelta


def _on_floor(building: Building, floor: int, points: np.ndarray) -> np.ndarray:
    """Return (N,) bool: the points (N, 3), metres in map, that lie on a floor."""
    return np.array(
        [(at := building.at(float(z))) is not None and at.id == floor for z in points[:, 2]], bool
    )


class FloorScene:
    """The part of the scene on the floor that the robot is on, for zones and layers."""

    def __init__(self, scene: SceneDictionary, building: Building) -> None:
        self._scene, self._building = scene, building

    @property
    def revision(self) -> int:
        """Return the revision of the whole scene."""
        return self._scene.revision

    @property
    def regions(self) -> dict[int, Region]:
        """Return the rooms of the floor."""
        return self._scene.regions

    @property
    def rooms(self) -> RegionMap:
        """Return the map from places to the rooms of the floor."""
        return self._scene.rooms

    def entities(self) -> dict[int, Entity]:
        """Return the entities of the floor by id."""
        building = self._building
        return {i: e for i, e in self._scene.entities().items() if building.is_here(float(e.mean[2]), e.eye)}


class SceneChain:
    """The scene dictionary and what is made of it. The dictionary locks itself.

    `grid`, `pillars`, `movers`, `others` and `directive` are set as they come. What returns a delta belongs on one
    thread, which publishes in the order of the revisions; `enricher.work`, `moved.find` and `refresh` may have a thread
    each.
    """

    def __init__(self, config: SceneDictionaryConfig, shared: SharedConfig, phrases: PhraseBook) -> None:
        if phrases.of_images is None:
            phrases.of_images = parts.image_phrases(config.appearance)
        self._phrases = phrases
        self.dictionary = parts.scene_dictionary(config)
        self.moved = MovedThings(self.dictionary) if config.archive_moved else None
        self.fields = DirectiveFields(phrases, shared.query, shared.keep_out_distance, shared.fence)
        self.journal = SceneJournal()
        self._said: dict[int, str] = {}  # captions of the signs that the rooms were named by
        self.grid: OccupancyGrid2D | None = None  # without the zones
        self.pillars: PillarMap | None = None
        self.directive: Directive | None = None
        self.building = Building()  # floors, and that on which the robot is
        self._stands = Building()  # the newest with a floor on which it is
        self.areas: tuple[ClosedWay, ...] = ()  # that nobody enters
        self.movers: tuple[MoverTrack, ...] = ()  # people and animals of the newest image
        self.others: tuple[MoverTrack, ...] = ()  # whatever moves in the newest turn of a range sensor
        self._comfort = shared.comfort
        self.zones: OccupancyGrid2D | None = None  # the newest: forbidden cells are occupied
        self._divided: OccupancyGrid2D | None = None  # the last grid that was divided into rooms
        self.is_elsewhere = False  # on another floor than before, whose rooms were not found yet
        self._resumed = 0  # revision of the checkpoint that the scene goes on from
        self.caption_by(lambda task: [])

    def caption_by(
        self, crops: Callable[[EnrichmentTask], Sequence[np.ndarray]], captioner: Captioner | None = None
    ) -> None:
        """Caption entities by this captioner from now on; None = by templates. crops: images of an entity."""
        self.enricher = Enricher(self.dictionary, captioner or TemplateCaptioner(), self._phrases, crops)

    def follow_ways(self, ways: Iterable[ClosedWay]) -> bool:
        """Keep out of the areas among these closed ways from now on; return whether they are others than before."""
        areas = tuple(way for way in ways if way.area)
        if areas == self.areas:
            return False
        self.areas = areas
        return True

    # --- instances ----------------------------------------------------------------------------------------

    def take_instances(self, delta: InstanceDelta) -> list[SceneDelta]:
        """Update the entities; return the change, and the amendments that waited for one of them."""
        return [self.dictionary.update(delta), *self.journal.settle(self.dictionary)]

    def take_signs(self, reading: SignReading) -> SceneDelta:
        """Update the entities of signs; where one says something new, the rooms that it may name are found again."""
        delta = self.dictionary.take_signs(reading)
        said = {entity.id: entity.caption for entity in delta.updated if is_sign(entity.id)}
        if not said.items() <= self._said.items():
            self._said |= said
            self.divide_again()
        return delta

    def amend(self, amendments: Sequence[Amendment], expected_revision: int = 0) -> SceneAmended:
        """Write amendments to the journal and carry them out, all or none. Raises AmendmentRefused, OSError."""
        return self.journal.amend(self.dictionary, amendments, expected_revision)

    def archive_moved(self) -> list[SceneDelta]:
        """Archive the things of a loaded map that were seen elsewhere, at once."""
        return [] if self.moved is None else list(self.moved.archive(self.moved.find()))

    def flush(self) -> list[SceneDelta]:
        """Return all changes that wait to be published."""
        deltas = [self.dictionary.flush()]
        while deltas[-1].updated:
            deltas.append(self.dictionary.flush())
        return deltas

    # --- rooms --------------------------------------------------------------------------------------------

    @property
    def rooms_wait(self) -> bool:
        """Return whether there is a grid that was not divided into rooms yet."""
        is_new = self.grid is not None and self.grid is not self._divided
        return is_new and not self.building.is_between  # then it is the grid of no floor

    def divide_again(self) -> None:
        """Have the rooms found again: their names or the scene are others."""
        self._divided = None

    def forget_layers(self) -> None:
        """Have rooms, zones and pillars found again: another map is in use, in which those of before lie elsewhere."""
        self.zones = self.pillars = self._divided = None
        self._said.clear()

    def find_rooms(self) -> FoundRooms | None:
        """Divide the newest grid into rooms; None where that was done already, or it is of no floor."""
        grid = self.grid
        if grid is None or not self.rooms_wait:
            return None
        self._divided, self.is_elsewhere = grid, False
        mask, regions = self.dictionary.find_regions(grid)
        revision = self.dictionary.revision
        return FoundRooms(grid, mask, regions, revision, self.dictionary.flush())

    def forget_floors(self) -> None:
        """Another map is in use: the next floors are the first ones."""
        self.building = self._stands = Building()

    def change_floor(self, building: Building) -> None:
        """Take the rooms of the floor that the robot is on into use, from the second floor on.

        A grid that is another floor's is forgotten.
        """
        former, self.building = self.building, building
        if former.since != building.since and self.grid is not None and self.grid.stamp < building.since:
            self.grid = None
        here, stood = building.here, self._stands.active
        if here is None:
            return
        self._stands = building
        if not building.has_others:
            return
        if not former.has_others:  # what is known so far are the rooms of the only floor
            only = next((floor for floor in building.floors if former.floor(floor.id) is not None), here)
            self.dictionary.change_floor(only.id, partial(_on_floor, building, only.id))
        self.dictionary.change_floor(here.id, partial(_on_floor, building, here.id))
        if stood != here.id:
            self.zones = self.pillars = self._divided = None
            self.is_elsewhere = True

    # --- layers and zones ---------------------------------------------------------------------------------

    def refresh(self, stamp: float, *, layers: bool = True) -> FieldUpdate | None:
        """Return the layers and zones that have changed; None if no input has. layers: also compute the layers.

        See `DirectiveFields.refresh`, also for what lacks vectors of phrases.
        """
        scene: SceneDictionary | FloorScene = self.dictionary
        if self._stands.has_others:
            scene = FloorScene(self.dictionary, self._stands)
        update = self.fields.refresh(
            scene, self.directive, self.pillars, self.grid, self.areas, stamp=stamp, layers=layers
        )
        if update is not None and update.zones is not None:
            self.zones = update.zones
        return update

    def zones_and_comfort(self, stamp: float) -> OccupancyGrid2D | None:
        """Return the zones with the comfort of the people that are tracked at `stamp`; None where there is neither."""
        people = self.people(stamp)
        if self.grid is None or not people:
            return self.zones
        return with_comfort(self.zones, self.grid, np.array(people), self._comfort, stamp)

    def people(self, stamp: float) -> list[list[float]]:
        """Return x, y, vx, vy in map of each mover that was seen within its life before `stamp`, by the camera or by a
        range sensor, twice where both see it now; none where no distance is kept.
        """
        since = stamp - self.dictionary.config.mover_life if self._comfort.distance else math.inf
        seen, ranged = (
            [one for one in some if one.last_seen >= since] for some in (self.movers, self.others)
        )
        return [[*one.place[:2], *one.velocity] for one in without_outdated(seen, ranged)]

    # --- successors and saved maps ------------------------------------------------------------------------

    def resume(self, archive: Archive) -> bool:
        """Go on from a predecessor's checkpoint of this run. Raises ForeignFile."""
        saved = scene_from_archive(archive, self.dictionary.config, math.inf, resumes=True)
        self.dictionary.resume(saved.state, saved.map_id, saved.session_id)
        self._resumed = saved.revision
        return True

    def replay(self, file: JournalFile[Request] | None) -> tuple[str, ...]:
        """Carry out the amendments in a journal that the checkpoint lacks, and keep it from now on; after `resume`.

        file: None = nothing outlives the process. Returns the problems as sentences.
        """
        self.journal = SceneJournal(file)
        self.journal.replay(self.dictionary, self._resumed)
        return tuple(self.journal.problems)

    def use(self, saved: SavedScene, mark: str | None = None) -> Callable[[], None]:
        """Take another scene into use; return what takes that back. The voxel map's next session is expected.

        mark: of that session, where it is known already (`next_session`).
        """
        session = saved.session_id if mark is None else next_session(saved.session_id, mark)
        return self.dictionary.replace(saved.state, saved.map_id, session)

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[SavedScene], Callable[[], object]] | None = None,
    ) -> ArchivePart[SavedScene]:
        """Return the part of a saved map. put: by default `use`. kept: see `exchange`."""
        return scene_part(self.dictionary, now, put or self.use, kept)
