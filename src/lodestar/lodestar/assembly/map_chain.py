"""From sensor records to the grid, the scene and the zones, in one process and at the rates of the nodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar.language.directive import Directive
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.pillars import PillarMap
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.scene.enrichment import EnrichmentTask
from lodestar.scene.records import SceneDelta
from lodestar.scene.saved import SavedMap

#: Opens a stage whose time somebody may measure.
Stages = Callable[[str], AbstractContextManager[Any]]


def unmeasured(_name: str) -> AbstractContextManager[Any]:
    """A stage that nobody measures."""
    return nullcontext()


class Periodic:
    """Says when something is due again."""

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """It is due at once."""
        self._next = -math.inf

    def due(self, stamp: float) -> bool:
        """Whether the period is over; then the next one has begun."""
        if stamp < self._next - 1e-9:
            return False
        self._next = stamp + self._period
        return True


class MapChain:
    """What the nodes mapping, semantic_voxels and scene_dictionary know together.

    grid: the plan as it went out last, with the keep-out zones. crops(task): images for captions.
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
        self.mapper: OctoMapper | ScanGridMapper = parts.plan_mapper(config.mapping)
        self.voxels = parts.voxel_map(config.semantic_voxels, config.shared)
        self.scene = parts.scene_dictionary(config.scene_dictionary)
        self.mirror = parts.scene_mirror()
        self.rejected: Counter[str] = Counter()  # frames that the map refused, by reason
        self._turns = parts.turn_filter(config.mapping)
        self._rooms = parts.region_tracker()
        self._fields = parts.directive_fields(phrases, config.shared)
        self._enricher = parts.enricher(self.scene, phrases, crops)
        self._directive: Directive | None = None
        self._pillars: PillarMap | None = None
        self._zones: OccupancyGrid2D | None = None
        self._plan = self.mapper.project(0.0)  # without the zones
        self._divided: OccupancyGrid2D | None = None  # the plan whose rooms are known
        self.grid = self._plan
        voxels, scene = config.semantic_voxels, config.scene_dictionary
        self._plan_due = Periodic(config.mapping.grid_period)
        self._geometry_due = Periodic(voxels.geometry_period)
        self._layers_due = Periodic(voxels.layers_period)
        self._regions_due = Periodic(scene.regions_period)
        self._display_due = Periodic(scene.display_period)
        self._enrich_due = Periodic(scene.enrich_period)

    # --- ranges -------------------------------------------------------------------------------------------

    def wants_turn(self, stamp: float, map_from_sensor: np.ndarray) -> bool:
        """Whether a turn of the LiDAR or scanner from this pose (4, 4) is to be taken in; the next one is another."""
        if self.config.mapping.source == "depth":
            return False
        return self._turns.due(stamp) and self._turns.takes(stamp, map_from_sensor[:3, 3])

    def take_points(
        self, stamp: float, points: np.ndarray, odom_from_sensor: np.ndarray, map_from_odom: np.ndarray
    ) -> None:
        """Take in returns (N, 3) of a LiDAR, metres in its frame; `wants_turn` says which turns."""
        assert isinstance(self.mapper, OctoMapper)
        with self._stages("grid"):
            self._follow(map_from_odom, odom_from_sensor)
            self.mapper.insert_points(points, map_from_odom @ odom_from_sensor)
        self._project(stamp)

    def take_scan(
        self,
        stamp: float,
        ranges: np.ndarray,
        angles: tuple[float, float],
        range_max: float,
        odom_from_sensor: np.ndarray,
        map_from_odom: np.ndarray,
    ) -> None:
        """Take in a planar scan: ranges (N,), metres; angles: the first and the step, rad."""
        assert isinstance(self.mapper, ScanGridMapper)
        with self._stages("grid"):
            self._follow(map_from_odom, odom_from_sensor)
            self.mapper.insert_scan(ranges, *angles, range_max, map_from_odom @ odom_from_sensor)
        self._project(stamp)

    def _follow(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> None:
        if self.mapper.follow(map_from_odom, odom_from_sensor):
            for period in (self._plan_due, self._regions_due, self._display_due):
                period.reset()  # they have moved too

    def _project(self, stamp: float) -> None:
        if not self._plan_due.due(stamp):
            return
        with self._stages("project"):
            self._plan = self.mapper.project(stamp)
            self.grid = with_keep_out(self._plan, self._zones)

    # --- images -------------------------------------------------------------------------------------------

    def take_depth(self, frame: RgbdFrame) -> None:
        """Take in depth without segments, at its own rate."""
        if self.config.mapping.source == "depth" and self._turns.due(frame.stamp):
            assert isinstance(self.mapper, OctoMapper)
            with self._stages("grid"):
                self._follow(frame.map_from_odom, frame.odom_from_camera)
                self.mapper.insert_depth(frame)
            self._project(frame.stamp)
        if not self._geometry_due.due(frame.stamp):
            return
        with self._stages("geometry"):
            try:
                self.voxels.integrate_depth(frame)
            except FrameRejected as rejected:
                self.rejected[rejected.reason.name] += 1

    def take_segments(self, frame: RgbdFrame, segmented: SegmentedFrame) -> bool:
        """Instances and entities follow the frame; False where the map refused it."""
        with self._stages("fuse"):
            try:
                instances = self.voxels.fuse(frame, segmented)
            except FrameRejected as rejected:
                self.rejected[rejected.reason.name] += 1
                return False
        with self._stages("scene"):
            self._tell(self.scene.update(instances))
        return True

    def _tell(self, delta: SceneDelta) -> None:
        if not self.mirror.apply(delta):
            raise RuntimeError(f"the scene's revisions have a gap before {delta.revision}")

    # --- what is worked out besides -----------------------------------------------------------------------

    def work(self, stamp: float) -> None:
        """Do what is due besides: captions, rooms, pillars and zones."""
        if self._enrich_due.due(stamp) and self.scene.enrichments_waiting:
            with self._stages("enrich"):
                self._enricher.work()
        if self._regions_due.due(stamp) and self._divided is not self._plan:
            with self._stages("regions"):
                self._find_rooms()
        if self._directive is not None and self._layers_due.due(stamp):
            with self._stages("pillars"):
                resolution = self.config.semantic_voxels.pillar_resolution
                self._pillars = self.voxels.pillars(resolution)
        if self._display_due.due(stamp):
            with self._stages("keep_out"):
                self._find_zones(stamp)

    def _find_rooms(self) -> None:
        self._divided = self._plan
        mask, found = self.scene.find_regions(self._plan, self._rooms)
        rooms = parts.room_map(self.config.scene_dictionary)
        rooms.set_mask(mask, self._plan.origin, self._plan.resolution)
        self.mirror.set_regions(found, rooms)
        self._tell(self.scene.flush())

    def _find_zones(self, stamp: float) -> None:
        if self._directive is None and self._zones is None:
            return
        update = self._fields.refresh(
            self.scene, self._directive, self._pillars, self._plan, stamp=stamp, layers=False
        )
        if update is not None and update.zones is not None:
            self._zones = update.zones
            self.grid = with_keep_out(self._plan, self._zones)

    def follow(self, directive: Directive | None) -> None:
        """What this directive says to keep away from is kept away from; None: there is none any more."""
        self._directive = directive
        self._layers_due.reset()
        self._display_due.reset()

    # --- saved maps ---------------------------------------------------------------------------------------

    def saved(self) -> SavedMap:
        """Grid, voxels, entities and regions as they are now, for `go_on_from`, of this process or of a later one."""
        return SavedMap.of(self.mapper, self.voxels, self.scene, self._rooms)

    def go_on_from(self, saved: SavedMap, now: float = 0.0) -> None:
        """Everything that was saved is known again; where the robot stands in it is told by its poses.

        now: seconds; nothing was seen after it. Raises ForeignFile where it does not fit the configuration.
        """
        config = self.config
        mapper = parts.plan_mapper_from(config.mapping, saved.grid_kind, saved.grid.arrays)
        voxels, scene = config.semantic_voxels.voxels, config.scene_dictionary.scene
        loaded = saved.load(voxels, scene, self._rooms, now)
        self.mapper, self.voxels = mapper, loaded.voxels
        self.scene.replace(loaded.scene, loaded.map_id, loaded.session_id, self.scene.session_id)
        while self.scene.flush().updated:
            pass
        pages = [self.scene.delta_since(0)]
        pages += [self.scene.delta_since(0, page) for page in range(1, pages[0][1])]
        self.mirror.clear()
        self.mirror.fill(delta for delta, _ in pages)
        self.grid = self._plan = self.mapper.project(now)
        self._find_rooms()
