"""Chain that makes entities from instances, and finds rooms, moved objects, similarity layers and zones."""

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
from lodestar.mapping.instances.pillars import PillarMap
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.mapping.movers.mover_tracks import MoverTrack, without_outdated
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
    """The rooms of a grid. mask: (rows, columns) uint16 room ids, 0 = none. revision: before `delta`."""

    grid: OccupancyGrid2D
    mask: np.ndarray
    regions: tuple[Region, ...]
    revision: int
    delta: SceneDelta


def _on_floor(building: Building, floor: int, points: np.ndarray) -> np.ndarray:
    """Return (N,) bool, whether each of the points (N, 3), metres in map, lies on this floor."""
    return np.array(
        [(at := building.at(float(z))) is not None and at.id == floor for z in points[:, 2]], bool
    )


class FloorScene:
    """The part of the scene on the robot's floor, for keep-out zones and similarity layers."""

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
        """Return the map from positions to the rooms of the floor."""
        return self._scene.rooms

    def entities(self) -> dict[int, Entity]:
        """Return the entities of the floor by id."""
        building = self._building
        return {i: e for i, e in self._scene.entities().items() if building.is_here(float(e.mean[2]), e.eye)}


class SceneChain:
    """The scene dictionary and the data derived from it. The dictionary has its own lock.

    The owner sets the inputs `grid`, `pillars`, `movers`, `others` and `directive`. Methods that return a
    delta must run on one thread, which publishes in the order of the revisions; `enricher.work`, `moved.find`
    and `refresh` may each run on another thread.
    """

    def __init__(self, config: SceneDictionaryConfig, shared: SharedConfig, phrases: PhraseBook) -> None:
        if phrases.of_images is None:
            phrases.of_images = parts.image_phrases(config.appearance)
        self._phrases = phrases
        self.dictionary = parts.scene_dictionary(config)
        self.moved = MovedThings(self.dictionary) if config.archive_moved else None
        self.fields = DirectiveFields(phrases, shared.query, shared.keep_out_distance, shared.fence)
        self.journal = SceneJournal()
        self._said: dict[int, str] = {}  # captions of the signs that named the rooms
        self.grid: OccupancyGrid2D | None = None  # without the zones
        self.pillars: PillarMap | None = None
        self.directive: Directive | None = None
        self.building = Building()  # with the robot's floor
        self._stands = Building()  # newest building with a known floor of the robot
        self.areas: tuple[ClosedWay, ...] = ()  # closed areas
        self.movers: tuple[MoverTrack, ...] = ()  # people and animals of the newest image
        self.others: tuple[MoverTrack, ...] = ()  # moving objects of the newest scan of a range sensor
        self._comfort = shared.comfort
        self.zones: OccupancyGrid2D | None = None  # newest; forbidden cells are occupied
        self._divided: OccupancyGrid2D | None = None  # last grid that was divided into rooms
        self.is_elsewhere = False  # on another floor than before, whose rooms are not found yet
        self._resumed = 0  # revision of the checkpoint from which the scene was resumed
        self.caption_by(lambda task: [])

    def caption_by(
        self, crops: Callable[[EnrichmentTask], Sequence[np.ndarray]], captioner: Captioner | None = None
    ) -> None:
        """Set the captioner of entities; None = templates. crops: returns images of an entity."""
        self.enricher = Enricher(self.dictionary, captioner or TemplateCaptioner(), self._phrases, crops)

    def follow_ways(self, ways: Iterable[ClosedWay]) -> bool:
        """Set the forbidden areas to the areas among these closed ways. Return whether they have changed."""
        areas = tuple(way for way in ways if way.area)
        if areas == self.areas:
            return False
        self.areas = areas
        return True

    # --- instances ----------------------------------------------------------------------------------------

    def take_instances(self, delta: InstanceDelta) -> list[SceneDelta]:
        """Update the entities from changed instances. Return the scene's changes, with those of queued
        amendments now applied.
        """
        return [self.dictionary.update(delta), *self.journal.settle(self.dictionary)]

    def take_signs(self, reading: SignReading) -> SceneDelta:
        """Update the entities of signs and return the change. A new text may name a room, so it makes the
        rooms due again.
        """
        delta = self.dictionary.take_signs(reading)
        said = {entity.id: entity.caption for entity in delta.updated if is_sign(entity.id)}
        if not said.items() <= self._said.items():
            self._said |= said
            self.divide_again()
        return delta

    def amend(self, amendments: Sequence[Amendment], expected_revision: int = 0) -> SceneAmended:
        """Write amendments to the journal and apply them, all or none. Raises AmendmentRefused, OSError."""
        return self.journal.amend(self.dictionary, amendments, expected_revision)

    def archive_moved(self) -> list[SceneDelta]:
        """Archive, at once, the objects of a loaded map that were seen elsewhere."""
        return [] if self.moved is None else list(self.moved.archive(self.moved.find()))

    def flush(self) -> list[SceneDelta]:
        """Return all changes that are not published yet."""
        deltas = [self.dictionary.flush()]
        while deltas[-1].updated:
            deltas.append(self.dictionary.flush())
        return deltas

    # --- rooms --------------------------------------------------------------------------------------------

    @property
    def rooms_wait(self) -> bool:
        """Return whether there is a grid that has not been divided into rooms yet."""
        is_new = self.grid is not None and self.grid is not self._divided
        return is_new and not self.building.is_between  # between floors the grid belongs to no floor

    def divide_again(self) -> None:
        """Request that the rooms are found again, because their names or the scene have changed."""
        self._divided = None

    def forget_layers(self) -> None:
        """Discard rooms, zones and pillars, so that they are found again, because another map is in use."""
        self.zones = self.pillars = self._divided = None
        self._said.clear()

    def find_rooms(self) -> FoundRooms | None:
        """Divide the newest grid into rooms and return them; None if already done or of no floor."""
        grid = self.grid
        if grid is None or not self.rooms_wait:
            return None
        self._divided, self.is_elsewhere = grid, False
        mask, regions = self.dictionary.find_regions(grid)
        revision = self.dictionary.revision
        return FoundRooms(grid, mask, regions, revision, self.dictionary.flush())

    def forget_floors(self) -> None:
        """Reset the floors, because another map is in use."""
        self.building = self._stands = Building()

    def change_floor(self, building: Building) -> None:
        """Switch to the rooms of the robot's floor, if the building has more than one floor.

        A grid from before the change of floor is discarded.
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
        if not former.has_others:  # the rooms known so far belong to the only floor
            only = next((floor for floor in building.floors if former.floor(floor.id) is not None), here)
            self.dictionary.change_floor(only.id, partial(_on_floor, building, only.id))
        self.dictionary.change_floor(here.id, partial(_on_floor, building, here.id))
        if stood != here.id:
            self.zones = self.pillars = self._divided = None
            self.is_elsewhere = True

    # --- layers and zones ---------------------------------------------------------------------------------

    def refresh(self, stamp: float, *, layers: bool = True) -> FieldUpdate | None:
        """Compute the directive's layers and zones. Return the changes; None if no input has changed.

        layers: False = compute the zones alone. For phrases without a vector see `DirectiveFields.refresh`.
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
        """Return the zones with the comfort distances of people tracked at `stamp`; None if there is neither."""
        people = self.people(stamp)
        if self.grid is None or not people:
            return self.zones
        return with_comfort(self.zones, self.grid, np.array(people), self._comfort, stamp)

    def people(self, stamp: float) -> list[list[float]]:
        """Return [x, y, vx, vy] in map of each person or animal seen within its lifetime before `stamp`.

        A mover that camera and range sensor both see is listed twice. [] if no comfort distance is
        configured.
        """
        since = stamp - self.dictionary.config.mover_life if self._comfort.distance else math.inf
        seen, ranged = (
            [one for one in some if one.last_seen >= since] for some in (self.movers, self.others)
        )
        return [[*one.place[:2], *one.velocity] for one in without_outdated(seen, ranged)]

    # --- restarts and saved maps --------------------------------------------------------------------------

    def resume(self, archive: Archive) -> bool:
        """Resume the scene from the checkpoint of an earlier process of this run. Return True. Raises
        ForeignFile.
        """
        saved = scene_from_archive(archive, self.dictionary.config, math.inf, resumes=True)
        self.dictionary.resume(saved.state, saved.map_id, saved.session_id)
        self._resumed = saved.revision
        return True

    def replay(self, file: JournalFile[Request] | None) -> tuple[str, ...]:
        """Apply the journal's amendments that the checkpoint lacks, and use this journal from now on.

        Returns problems as sentences. Call it after `resume`. file: None = not persistent.
        """
        self.journal = SceneJournal(file)
        self.journal.replay(self.dictionary, self._resumed)
        return tuple(self.journal.problems)

    def use(self, saved: SavedScene, mark: str | None = None) -> Callable[[], None]:
        """Replace the scene by a saved one and expect the voxel map's next session. Returns an undo function.

        mark: suffix of that session's name, if it is known already (see `next_session`).
        """
        session = saved.session_id if mark is None else next_session(saved.session_id, mark)
        return self.dictionary.replace(saved.state, saved.map_id, session)

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[SavedScene], Callable[[], object]] | None = None,
    ) -> ArchivePart[SavedScene]:
        """Return the part of a saved map that holds the scene.

        put: puts a loaded scene into use and returns an undo function; default: `use`. kept: see `exchange`.
        """
        return scene_part(self.dictionary, now, put or self.use, kept)
