"""From sensor readings to the grid, the scene and the experts, as the nodes do it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.frontier import FrontierConfig, FrontierExpert
from lodestar.experts.protocol import Expert
from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.geometry.poses import inverse, planar_transform
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar.grid.regions import RegionTracker
from lodestar.language.directive import Directive
from lodestar.language.grammar import parse_directive
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.ground_truth import GroundTruthDetector
from lodestar.query.keep_out import KeepOutZones
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.regions import RegionMap
from lodestar.scene.saved import SavedMap
from lodestar_eval.delayed import DelayedReasoner
from lodestar_eval.stages import StageClock
from lodestar_sim.sensors import CameraFrame, ScanConfig, ScanFrame

if TYPE_CHECKING:
    from lodestar_eval.settings import EpisodeSettings

_BASE_FROM_SCAN = planar_transform(0.0, 0.0, 0.0, ScanConfig().z)


class Pipeline:
    """What the robot knows; `take` brings in one scan and one image of the same moment."""

    def __init__(
        self, settings: EpisodeSettings, phrases: PhraseBook, rng: np.random.Generator, clock: StageClock
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.mapper = ScanGridMapper(settings.grid)
        self.detector = GroundTruthDetector(settings.noise, rng)
        self.voxels = SemanticVoxelMap(settings.voxels)
        self.scene = SceneDictionary(settings.scene)
        self.mirror = SceneMirror()
        self.frontier = FrontierExpert(FrontierConfig(), phrases if settings.expectation else None)
        self._stamp = 0.0  # of the newest image
        self.semantic_map = SemanticMapExpert(SemanticMapConfig(), phrases, self._reasoner())
        self.egocentric = EgocentricExpert(EgocentricConfig(), phrases, self._reasoner())
        self.experts: dict[str, Expert] = {
            expert.name: expert for expert in (self.frontier, self.semantic_map, self.egocentric)
        }
        self.grid = self.mapper.grid()
        self.rejected: Counter[str] = Counter()  # frames that the map refused, by reason
        self._next_regions = 0.0
        self._regions = RegionTracker()
        self.keep_out = KeepOutZones(phrases, EgocentricConfig().worth.query)
        self._zones: OccupancyGrid2D | None = None
        self._next_zones = 0.0
        self._next_description = 0.0

    def _reasoner(self) -> Reasoner:
        """Offline, at once or as slow as the settings say; one for each expert, as each node has its own."""
        delay = self.settings.reasoner_delay
        return DelayedReasoner(delay, lambda: self._stamp) if delay > 0.0 else OfflineReasoner()

    def take(self, scan: ScanFrame, image: CameraFrame, map_from_base: np.ndarray) -> None:
        """Grid, instances, entities and experts know of this moment."""
        self._stamp = image.stamp
        self._map(scan, map_from_base, image.map_from_odom)
        frame = RgbdFrame(
            image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom, image.rgb
        )
        with self.clock.stage("detect"):
            segmented = self.detector.segment(image.stamp, image.labels, image.label_table)
        self._remember(frame, segmented)
        with self.clock.stage("regions"):
            self._find_regions(image.stamp)
        with self.clock.stage("keep_out"):
            self._find_zones(image.stamp)
        with self.clock.stage("experts_listen"):
            for expert in (self.frontier, self.semantic_map, self.egocentric):
                expert.set_grid(self.grid)
            for reader in (self.frontier, self.semantic_map, self.egocentric):
                reader.set_scene(self.mirror)
            for viewer in (self.frontier, self.egocentric):
                viewer.set_view(frame, segmented)
            self._describe(image.stamp)

    def _describe(self, stamp: float) -> None:
        """The semantic-map expert hears what the egocentric one says of the view."""
        if stamp >= self._next_description:
            self._next_description = stamp + self.settings.description_interval
            description = self.egocentric.describe()
            if description is not None:
                self.semantic_map.hear(description)

    def saved(self) -> SavedMap:
        """Grid, voxels, entities and regions as they are now, for `go_on_from`, of this process or of a later one."""
        return SavedMap.of(self.mapper, self.voxels, self.scene, self._regions)

    def go_on_from(self, saved: SavedMap, now: float = 0.0) -> None:
        """Everything that was saved is known again; where the robot stands in it is told by its poses.

        now: seconds; nothing was seen after it. Raises ForeignFile where it does not fit the settings.
        """
        settings = self.settings
        loaded = saved.load(settings.grid, settings.voxels, settings.scene, self._regions, now)
        self.mapper, self.voxels = loaded.grid, loaded.voxels
        self.scene.replace(loaded.scene, loaded.map_id, loaded.session_id, self.scene.session_id)
        while self.scene.flush().updated:
            pass
        pages = [self.scene.delta_since(0)]
        pages += [self.scene.delta_since(0, page) for page in range(1, pages[0][1])]
        self.mirror.clear()
        self.mirror.fill(delta for delta, _ in pages)
        self.grid = self.mapper.grid(now)
        self._next_regions = now
        self._find_regions(now)

    def _remember(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Instances and entities follow the frame; one that the map refuses is counted and dropped."""
        with self.clock.stage("fuse"):
            try:
                instances = self.voxels.fuse(frame, segmented)
            except FrameRejected as rejected:
                self.rejected[rejected.reason.name] += 1
                return
        with self.clock.stage("scene"):
            delta = self.scene.update(instances)
            if not self.mirror.apply(delta):
                raise RuntimeError(f"the scene's revisions have a gap before {delta.revision}")

    def follow(self, directive: Directive | None) -> None:
        """What this directive says to keep away from is kept away from; None: there is none any more."""
        self.keep_out.follow(directive)
        self._zones, self._next_zones = None, 0.0
        self.grid = replace(self.grid, keep_out=None)

    def _find_zones(self, stamp: float) -> None:
        if stamp < self._next_zones or not self.keep_out.active:
            return
        self._next_zones = stamp + self.settings.zone_interval
        pillars = self.voxels.pillars(self.grid.resolution)
        mirror = self.mirror
        mask = self.keep_out.mask(self.grid, mirror.entities, pillars, mirror.regions, mirror.rooms)
        assert mask is not None
        cells = np.where(mask, np.int8(OCCUPIED), np.int8(FREE))
        self._zones = OccupancyGrid2D(cells, self.grid.resolution, self.grid.origin, stamp)
        self.grid = with_keep_out(self.grid, self._zones)

    @staticmethod
    def parse(text: str) -> Directive:
        """What a text asks for. Raises DirectiveError."""
        return parse_directive(text)

    def _map(self, scan: ScanFrame, map_from_base: np.ndarray, map_from_odom: np.ndarray) -> None:
        with self.clock.stage("grid"):
            if self.mapper.follow(map_from_odom, inverse(map_from_odom) @ map_from_base):
                self._next_regions = self._next_zones = 0.0  # they have moved too
            self.mapper.insert_scan(
                scan.ranges,
                scan.angle_min,
                scan.angle_increment,
                scan.range_max,
                map_from_base @ _BASE_FROM_SCAN,
            )
            self.grid = with_keep_out(self.mapper.grid(scan.stamp), self._zones)

    def _find_regions(self, stamp: float) -> None:
        if stamp < self._next_regions:
            return
        self._next_regions = stamp + self.settings.region_interval
        mask, found = self.scene.find_regions(self.grid, self._regions)
        rooms = RegionMap(self.settings.scene.region_reach)
        rooms.set_mask(mask, self.grid.origin, self.grid.resolution)
        self.mirror.set_regions(found, rooms)
