"""From sensor records to the grid, the scene and the zones, in one process and at the rates of the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import RangeTurn
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar.language.directive import Directive
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.follower import pages_of
from lodestar.mapping.grid_file import Mapper, grid_archive, grid_part
from lodestar.mapping.persistence import voxel_part
from lodestar.mapping.pillars import PillarMap
from lodestar.mapping.records import InstanceDelta
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.scene.enrichment import EnrichmentTask
from lodestar.scene.persistence import SavedScene, scene_part
from lodestar.scene.records import SceneDelta
from lodestar.scene.regions import RegionMap
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import ArchivePart, SavedMap, next_session
from lodestar.timing.stamps import Periodic
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.way_file import way_part

#: Opens a stage whose time may be measured.
Stages = Callable[[str], AbstractContextManager[Any]]


def unmeasured(_name: str) -> AbstractContextManager[Any]:
    """Return a stage without measurement."""
    return nullcontext()


class MapChain:
    """The state of the nodes mapping, semantic_voxels and scene_dictionary in one process.

    grid: the last published plan, with the keep-out zones. directive: source of the zones. crops(task): images
    for captions. seen: the instances of the last segmented frame. followers: are told every change of the scene.
    use_ways(ways): takes the closed ways of a loaded map into use, and returns what takes that back.
    """

    def __init__(
        self,
        config: RobotConfig,
        phrases: PhraseBook,
        *,
        crops: Callable[[EnrichmentTask], list[np.ndarray]] = lambda task: [],
        stages: Stages = unmeasured,
    ) -> None:
        self.config, self._stages = config, stages
        self.plan = PlanChain(config.mapping)
        self.voxels = parts.voxel_map(config.semantic_voxels, config.shared)
        self.scene = parts.scene_dictionary(config.scene_dictionary)
        self._moved = parts.moved_things(config.scene_dictionary, self.scene)
        self.mirror = parts.scene_mirror()
        self.seen: InstanceDelta | None = None
        self.followers: list[Callable[[SceneDelta], None]] = []
        self.use_ways = self._use_ways
        self.rejected: Counter[str] = Counter()  # frames that the map rejected, by reason
        self._fields = parts.directive_fields(phrases, config.shared)
        self._enricher = parts.enricher(self.scene, phrases, crops)
        self.directive: Directive | None = None
        self._pillars: PillarMap | None = None
        self._zones: OccupancyGrid2D | None = None
        self._shown = self.plan.grid  # the plan that `grid` shows, without the zones
        self._divided: OccupancyGrid2D | None = None  # the last plan that was segmented into rooms
        self.grid = self._shown
        voxels, scene = config.semantic_voxels, config.scene_dictionary
        self._geometry_due = Periodic(voxels.geometry_period)
        self._layers_due = Periodic(voxels.layers_period)
        self._regions_due = Periodic(scene.regions_period)
        self._display_due = Periodic(scene.display_period)
        self._enrich_due = Periodic(scene.enrich_period)
        self._changes_due = Periodic(scene.changes_period)

    # --- ranges -------------------------------------------------------------------------------------------

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """See `PlanChain.wants_turn`."""
        return self.plan.wants_turn(stamp, map_from_sensor)

    def take_turn(self, turn: RangeTurn) -> None:
        """See `PlanChain.take_turn`."""
        with self._stages("grid"):
            self._planned(self.plan.take_turn(turn))

    def _planned(self, jumped: bool) -> None:
        """Update `grid` after the plan may have changed."""
        if jumped:
            self._regions_due.reset()  # the rooms have moved too
            self._display_due.reset()
        if self.plan.grid is not self._shown:
            self._shown = self.plan.grid
            self.grid = with_keep_out(self.plan.grid, self._zones)

    def follow_ways(self, ways: Iterable[ClosedWay]) -> None:
        """Lay these closed ways over the grid from now on, in place of the former ones."""
        self.plan.follow_ways(ways)
        self._planned(False)

    def _use_ways(self, ways: tuple[ClosedWay, ...]) -> Callable[[], None]:
        former = self.plan.ways
        self.follow_ways(ways)
        return lambda: self.follow_ways(former)

    # --- images -------------------------------------------------------------------------------------------

    def take_depth(self, frame: RgbdFrame, odom_from_base: np.ndarray | None = None) -> None:
        """Integrate depth without segments, at its own rate."""
        if self.plan.wants_depth(frame.stamp):
            with self._stages("grid"):
                self._planned(self.plan.take_depth(frame, odom_from_base))
        if not self._geometry_due.due(frame.stamp):
            return
        with self._stages("geometry"):
            try:
                self.voxels.integrate_depth(frame)
            except FrameRejected as rejected:
                self.rejected[rejected.reason.name] += 1

    def take_segments(self, frame: RgbdFrame, segmented: SegmentedFrame) -> bool:
        """Update instances and entities by a segmented frame; return False if the map rejected it."""
        with self._stages("fuse"):
            try:
                instances = self.voxels.fuse(frame, segmented)
            except FrameRejected as rejected:
                self.rejected[rejected.reason.name] += 1
                return False
        self.seen = instances
        with self._stages("scene"):
            self.tell(self.scene.update(instances))
        return True

    def tell(self, delta: SceneDelta) -> None:
        """Apply a delta of the scene to the mirror, and tell the followers."""
        if not self.mirror.apply(delta):
            raise RuntimeError(f"the scene's revisions have a gap before {delta.revision}")
        for follower in self.followers:
            follower(delta)

    # --- periodic work ------------------------------------------------------------------------------------

    def work(self, stamp: float) -> None:
        """Do the periodic work that is due: captions, rooms, moved things, pillars, zones.

        Work without phrases is retried when next due.
        """
        if self._enrich_due.due(stamp) and self.scene.enrichments_waiting:
            with self._stages("enrich"), suppress(MissingPhrases):
                self._enricher.work()
        if self._regions_due.due(stamp) and self._divided is not self._shown:
            with self._stages("regions"):
                self._find_rooms()
        if self._moved is not None and self._changes_due.due(stamp):
            with self._stages("changes"):
                for delta in self._moved.archive(self._moved.find()):
                    self.tell(delta)
        if self.directive is not None and self._layers_due.due(stamp):
            with self._stages("pillars"):
                resolution = self.config.semantic_voxels.pillar_resolution
                self._pillars = self.voxels.pillars(resolution)
        if self._display_due.due(stamp):
            with self._stages("keep_out"), suppress(MissingPhrases):
                self._find_zones(stamp)

    def _find_rooms(self) -> None:
        plan = self._divided = self._shown
        mask, found = self.scene.find_regions(plan)
        rooms = RegionMap(self.config.scene_dictionary.scene.region_reach)
        rooms.set_mask(mask, plan.origin, plan.resolution)
        self.mirror.set_regions(found, rooms)
        self.tell(self.scene.flush())

    def _find_zones(self, stamp: float) -> None:
        if self.directive is None and self._zones is None and not self._fields.is_fenced:
            return
        update = self._fields.refresh(
            self.scene, self.directive, self._pillars, self._shown, stamp=stamp, layers=False
        )
        if update is not None and update.zones is not None:
            self._zones = update.zones
            self.grid = with_keep_out(self._shown, self._zones)

    def follow(self, directive: Directive | None) -> None:
        """Follow the keep-out zones of this directive; None removes them."""
        self.directive = directive
        self._layers_due.reset()
        self._display_due.reset()

    # --- saved maps ---------------------------------------------------------------------------------------

    def saved(self) -> SavedMap:
        """Return the current map, for `go_on_from` in this process or a later one."""
        return SavedMap.of(self._parts())

    def go_on_from(self, saved: SavedMap, now: float = 0.0) -> None:
        """Replace the map by a saved one; the next poses give the robot's place in it.

        now: seconds; no sighting is later. Raises ForeignFile if it does not fit the configuration; then nothing has
        changed.
        """
        saved.load(self._parts(now))
        while self.scene.flush().updated:
            pass
        self.mirror.clear()
        for page in pages_of(self.scene.delta_since):
            self.mirror.take(page)
        self.grid = self._shown = self.plan.grid
        self._find_rooms()

    def _parts(self, now: float = 0.0) -> tuple[ArchivePart[Any], ...]:
        def use_mapper(mapper: Mapper) -> Callable[[], None]:
            former = self.plan.mapper
            self.plan.go_on_with(mapper, now)
            return lambda: self.plan.go_on_with(former, now)

        def use_voxels(voxels: SemanticVoxelMap) -> Callable[[], None]:
            former, self.voxels = self.voxels, voxels
            return lambda: setattr(self, "voxels", former)

        def use_scene(saved: SavedScene) -> Callable[[], None]:
            return self.scene.replace(saved.state, saved.map_id, next_session(saved.session_id, ""))

        def fitting(archive: Archive) -> Mapper:
            return parts.plan_mapper_from(self.config.mapping, archive.kind, archive.arrays)

        voxels, clock = self.config.semantic_voxels.voxels, lambda: now
        return (
            scene_part(self.scene, clock, use_scene),
            grid_part(lambda: grid_archive(self.plan.mapper, now), fitting, use_mapper),
            voxel_part(voxels, lambda: self.voxels, use_voxels, clock, mark=""),
            way_part(lambda: self.plan.ways, self.use_ways, clock),
        )
