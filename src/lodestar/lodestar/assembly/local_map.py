"""The chains that build the map (plan grid, voxels, scene) in one process, at the rates of their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import (
    SCENE_DICTIONARY_CHANGES_PERIOD,
    SCENE_DICTIONARY_DISPLAY_PERIOD,
    SCENE_DICTIONARY_ENRICH_PERIOD,
    SCENE_DICTIONARY_REGIONS_PERIOD,
    SEMANTIC_VOXELS_LAYERS_PERIOD,
    RobotConfig,
)
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import RangeTurn
from lodestar.assembly.scene_chain import SceneChain
from lodestar.assembly.voxel_chain import VoxelChain
from lodestar.floors.records import Building
from lodestar.grid.overlay import with_keep_out
from lodestar.language.directive import Directive
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.config import TURN_FILTER_PERIOD
from lodestar.mapping.follower import pages_of
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.signs import SignWatch, read_signs
from lodestar.scene.amendments import AmendmentRefused
from lodestar.scene.floor_mirrors import FloorMirrors
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.scene.regions import RegionMap
from lodestar.storage.saved_map import ArchivePart, SavedMap
from lodestar.timing.stamps import NewestStamp, Periodic
from lodestar.worldmodel.amendments import Amendment, ClosedWay
from lodestar.worldmodel.closed_ways import ways_here
from lodestar.worldmodel.way_file import way_part
from lodestar.worldmodel.world_model import Reply

#: Returns a context manager that measures the stage with this name.
Stages = Callable[[str], AbstractContextManager[Any]]


def unmeasured(_name: str) -> AbstractContextManager[Any]:
    """Return a context manager that does nothing, for callers that measure no run times."""
    return nullcontext()


class LocalMap:
    """Runs `PlanChain`, `VoxelChain` and `SceneChain` by input stamps, and passes the results of each to the
    others.

    grid: last published 2D grid, with the keep-out zones. seen: instances of the last segmented frame.
    followers: called with every change of the scene. use_ways(ways): replaces the closed ways (lines and
    areas not to be entered) by those of a loaded map and returns an undo function; by default they are drawn
    on the grid.
    """

    def __init__(
        self,
        config: RobotConfig,
        phrases: PhraseBook,
        *,
        stages: Stages = unmeasured,
        use_ways: Callable[[tuple[ClosedWay, ...]], Callable[[], object]] | None = None,
    ) -> None:
        self.config, self._stages, self._use_ways = config, stages, use_ways
        self.describer = parts.appearance_describer(config.perception)
        self.sign_reader = parts.sign_reader(config.sign_reader)
        self._signs_due = SignWatch()
        self.plan = PlanChain(config.mapping)
        self.voxels = VoxelChain(config.semantic_voxels, config.shared)
        self.scene = SceneChain(config.scene_dictionary, config.shared, phrases)
        base_height = 0.0 if config.mapping.source == "scan" else config.mapping.octomap.floor.base_height
        self.floors = FloorStack(config.mapping.floors, self.plan, base_height)
        self.mirrors = FloorMirrors()
        self._ways: tuple[ClosedWay, ...] = ()  # of all floors
        self.seen: InstanceDelta | None = None
        self._newest = NewestStamp()
        self._stamp = 0.0  # newest stamp of scans and segmented frames
        self.followers: list[Callable[[SceneDelta], None]] = []
        self.grid = self.scene.grid = self.plan.grid
        self._comfort_due = Periodic(TURN_FILTER_PERIOD)
        self._layers_due = Periodic(SEMANTIC_VOXELS_LAYERS_PERIOD)
        self._regions_due = Periodic(SCENE_DICTIONARY_REGIONS_PERIOD)
        self._display_due = Periodic(SCENE_DICTIONARY_DISPLAY_PERIOD)
        self._enrich_due = Periodic(SCENE_DICTIONARY_ENRICH_PERIOD)
        self._changes_due = Periodic(SCENE_DICTIONARY_CHANGES_PERIOD)

    # --- ranges and images --------------------------------------------------------------------------------

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Return whether to take a scan; see `PlanChain.wants_turn`."""
        return self.plan.wants_turn(stamp, map_from_sensor)

    def take_turn(self, turn: RangeTurn) -> None:
        """Integrate a scan unless the robot is between floors; see `PlanChain.take_turn`."""
        with self._stages("grid"):
            moved = self.floors.follow(turn.map_from_odom, turn.odom_from_sensor, turn.stamp)
            if self.floors.observe(turn.stamp, turn.map_from_odom @ turn.odom_from_base) or moved:
                self.follow_building()
            if self.floors.rests:
                return
            self._planned(self.plan.take_turn(turn))
            self.scene.others = self.plan.movers.tracks()
            self._heed_movers("turns", turn.stamp)

    @property
    def building(self) -> Building:
        """Return the known floors, with the robot's floor."""
        return self.floors.building

    @property
    def mirror(self) -> SceneMirror:
        """Return the scene of all floors."""
        return self.mirrors.whole

    @property
    def here(self) -> SceneMirror:
        """Return the scene of the robot's floor; the whole scene while there is one floor."""
        return self.mirrors.here

    def follow_building(self) -> None:
        """Switch to the rooms, zones and entities of the robot's current floor."""
        building = self.floors.building
        self.scene.change_floor(building)
        if not self.mirrors.follow(building):
            return
        self._lay_ways()
        self._planned(True)
        self._find_rooms()

    def follow_ways(self, ways: Iterable[ClosedWay]) -> None:
        """Replace the closed ways (lines that may not be crossed, and areas): draw them on the 2D grid, and
        forbid the areas.
        """
        self._ways = tuple(ways)
        self._lay_ways()

    def _lay_ways(self) -> None:
        """Draw the closed ways of the robot's floor."""
        here = ways_here(self._ways, self.building)
        self.plan.follow_ways(here)
        if self.scene.follow_ways(here):
            self._display_due.reset()
        self._planned()

    def replace_ways(self, ways: tuple[ClosedWay, ...]) -> Callable[[], None]:
        """Replace the closed ways by those of a loaded map. Returns an undo function."""
        former = self._ways
        self.follow_ways(ways)
        return lambda: self.follow_ways(former)

    def _planned(self, jumped: bool = False) -> None:
        """Update `grid` if the 2D map is new. jumped: the map jumped, so find rooms and zones again."""
        if jumped:
            self._regions_due.reset()  # the rooms have moved too
            self._display_due.reset()
        if self.plan.grid is not self.scene.grid:
            self.scene.grid = self.plan.grid
            self._lay()

    def _lay(self) -> None:
        """Set `grid` to the 2D grid with the zones and the comfort distances around tracked people."""
        self.grid = with_keep_out(self.plan.grid, self.scene.zones_and_comfort(self._stamp))

    def _heed_movers(self, stream: str, stamp: float) -> None:
        """Remove people and animals not seen within their lifetime, and redraw comfort distances if due."""
        self._stamp = stamp = self._newest.take(stream, stamp)
        self.tell(self.scene.dictionary.expire_movers(stamp))
        if (self.scene.people(stamp) or self.grid.comfort is not None) and self._comfort_due.due(stamp):
            self._lay()

    def take_depth(self, frame: RgbdFrame, odom_from_base: np.ndarray | None = None) -> None:
        """Integrate a depth image without segments into 2D grid and voxels, each at its configured rate."""
        if self.plan.wants_depth(frame.stamp):
            with self._stages("grid"):
                self._planned(self.plan.take_depth(frame, odom_from_base))
        if self.voxels.wants_depth(frame.stamp):
            with self._stages("geometry"), suppress(FrameRejected):
                self.voxels.take_depth(frame)

    def take_movers(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Track a frame's people and animals; see `VoxelChain.take_movers`."""
        self.voxels.take_movers(frame, segmented)

    def take_segments(self, frame: RgbdFrame, segmented: SegmentedFrame) -> bool:
        """Update instances and entities from a segmented frame. Return False if the map rejected it.

        If appearance descriptions are configured and the frame has colour, the segments are described first.
        """
        if self.describer is not None and frame.rgb is not None:
            with self._stages("describe"):
                segmented = self.describer.describe(frame.rgb, segmented)
        with self._stages("fuse"):
            try:
                self.seen = self.voxels.take_segments(frame, segmented)
            except FrameRejected:
                return False
            finally:
                self.scene.movers = self.voxels.movers.tracks()
                self._heed_movers("frames", frame.stamp)
        with self._stages("scene"):
            self.tell(*self.scene.take_instances(self.seen))
        return True

    @property
    def wants_color(self) -> bool:
        """Return whether frames need colour, for the appearance of segments or for signs."""
        return self.describer is not None or self.sign_reader is not None

    def read_signs(self, frame: RgbdFrame) -> None:
        """Read the signs in a frame with colour, if due."""
        if self.sign_reader is None or frame.rgb is None:
            return
        if self._signs_due.wants(frame.stamp, frame.odom_from_camera):
            with self._stages("signs"):
                reading = read_signs(frame, self.sign_reader)
                self.tell(self.scene.take_signs(reading))

    @property
    def rejected(self) -> Counter[str]:
        """Return the number of frames that the voxel map has rejected, by reason."""
        return Counter({reason.name: count for reason, count in self.voxels.map.rejected.items()})

    def tell(self, *deltas: SceneDelta) -> None:
        """Apply changes of the scene to the mirrors, and pass them to the followers."""
        for delta in deltas:
            if not self.mirrors.apply(delta):
                raise RuntimeError(f"the scene's revisions have a gap before {delta.revision}")
            for follower in self.followers:
                follower(delta)

    def amend(self, amendments: Sequence[Amendment], answered: Callable[[Reply], None]) -> None:
        """Apply all amendments of the scene or none, and pass the reply to `answered` before returning."""
        try:
            made = self.scene.amend(amendments)
        except AmendmentRefused as refused:
            answered(Reply(problem=refused.refusal, why=str(refused)))
            return
        self.tell(made.delta)
        answered(Reply(made.inverse))

    # --- periodic work ------------------------------------------------------------------------------------

    def work(self, stamp: float) -> None:
        """Do the periodic work that is due: captions, rooms, moved objects, pillars, zones.

        Work for which phrase vectors are missing is retried when it is due again.
        """
        scene = self.scene
        if self._enrich_due.due(stamp) and scene.dictionary.enrichments_waiting:
            with self._stages("enrich"), suppress(MissingPhrases):
                scene.enricher.work()
        if self._regions_due.due(stamp) and scene.rooms_wait:
            with self._stages("regions"):
                self._find_rooms()
        if scene.moved is not None and self._changes_due.due(stamp):
            with self._stages("changes"):
                self.tell(*scene.archive_moved())
        if scene.directive is not None and self._layers_due.due(stamp):
            with self._stages("pillars"):
                scene.pillars = self.voxels.pillars(self.floors.building.band)
        if self._display_due.due(stamp):
            with self._stages("keep_out"):
                self._find_zones(stamp)

    def _find_rooms(self) -> None:
        found = self.scene.find_rooms()
        if found is not None:
            rooms = RegionMap(self.config.scene_dictionary.scene.region_reach)
            rooms.set_mask(found.mask, found.grid.origin, found.grid.resolution)
            self.mirrors.set_regions(found.regions, rooms)
            self.tell(found.delta)

    def _find_zones(self, stamp: float) -> None:
        scene = self.scene
        if not (scene.directive or scene.zones or scene.areas or scene.fields.is_fenced):
            return
        update = scene.refresh(stamp, layers=False)
        if update is not None and update.zones is not None:
            self._lay()

    def follow(self, directive: Directive | None) -> None:
        """Use the keep-out zones of this directive from now on; None removes them."""
        self.scene.directive = directive
        self._layers_due.reset()
        self._display_due.reset()

    # --- saved maps ---------------------------------------------------------------------------------------

    def saved(self) -> SavedMap:
        """Return the current map for `go_on_from`, in this or a later process."""
        return SavedMap.of(self._parts(0.0))

    def go_on_from(self, saved: SavedMap, now: float = 0.0) -> None:
        """Replace the map by a saved one; the next poses place the robot in it.

        now: seconds; upper limit for the stamps of loaded observations. Raises ForeignFile if the map does
        not fit the configuration; then nothing has changed.
        """
        saved.load(self._parts(now))
        self.scene.flush()
        self.mirrors.clear()
        for page in pages_of(self.scene.dictionary.delta_since):
            self.mirrors.take(page)
        self.grid = self.scene.grid = self.plan.grid
        self.scene.forget_layers()
        self.seen = None
        self._layers_due.reset()
        self._display_due.reset()
        self.scene.forget_floors()
        self.follow_building()
        self._find_rooms()

    def _parts(self, now: float) -> tuple[ArchivePart[Any], ...]:
        clock = lambda: now  # noqa: E731
        return (
            self.scene.part(clock, put=partial(self.scene.use, mark="")),
            self.floors.part(clock),
            self.voxels.part(clock, mark=""),
            way_part(lambda: self._ways, self._use_ways or self.replace_ways, clock),
        )
