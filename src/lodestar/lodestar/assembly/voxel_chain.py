"""From posed images to voxels, instances and pillars, at the rates of the semantic_voxels node."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from lodestar.assembly import parts
from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.mover_tracks import MoverTracker
from lodestar.mapping.persistence import KIND, VERSION, map_to_arrays, voxels_from
from lodestar.mapping.pillars import PillarMap
from lodestar.mapping.records import InstanceDelta
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.movers import split_movers
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import VOXELS, ArchivePart, base_session, next_session
from lodestar.timing.stamps import Periodic


class VoxelChain:
    """The voxel map in use, its rates, and its part of a saved map.

    The map locks itself: depth, segments and layers may come on threads of their own. `take_depth` and `take_segments`
    raise FrameRejected, and the map counts it (`map.rejected`). People and animals are no part of the map: `movers`
    tracks them, and their depth is left out (ADR 0082).
    """

    def __init__(self, config: SemanticVoxelsConfig, shared: SharedConfig, session_id: str = "") -> None:
        self.config = config
        self.map: SemanticVoxelMap = parts.voxel_map(config, shared, session_id)
        self.movers = MoverTracker(shared.movers)
        self._geometry_due = Periodic(config.geometry_period)

    def restart_clock(self) -> None:
        """Accept the next frame: the clock went back."""
        self.map.restart_clock()
        self.movers.restart_clock()

    def wants_depth(self, stamp: float) -> bool:
        """Return whether depth without segments is due; counts it if so."""
        return self._geometry_due.due(stamp)

    def take_depth(self, frame: RgbdFrame) -> None:
        """Integrate depth without segments; `wants_depth` selects the frames."""
        self.map.integrate_depth(self.movers.without_movers(frame))

    def take_segments(self, frame: RgbdFrame, segmented: SegmentedFrame) -> InstanceDelta:
        """Fuse a segmented frame without its movers; return what has changed of the instances, and the tracks that it
        showed (`is_track`).
        """
        split = split_movers(frame, segmented, self.movers.config)
        try:
            delta = self.map.fuse(split.frame, split.still)
        except FrameRejected:
            if split.sights and not (split.frame.depth > 0.0).any():  # somebody fills the image
                self.movers.take(frame, split)
            raise
        self.movers.take(frame, split)
        return self.movers.told(delta)

    def take_movers(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Track a frame's movers before its depth is taken, where the segments come with it."""
        self.movers.take(frame, split_movers(frame, segmented, self.movers.config))

    def pillars(self, band: tuple[float, float] | None = None) -> PillarMap:
        """Return the instances over each cell of the plan, at the configured resolution.

        band: heights in map, metres, of the floor whose plan it is; None = all.
        """
        return self.map.pillars(self.config.pillar_resolution, band)

    # --- successors and saved maps ------------------------------------------------------------------------

    @property
    def notes(self) -> dict[str, Any]:
        """Return what a successor must know before ids are published, so that it gives none of them again."""
        return {"session": base_session(self.map.session_id), "next_id": self.map.next_id}

    def succeed(self, notes: Mapping[str, Any]) -> None:
        """Go on after a predecessor whose map is lost: in its next session, with ids behind its own."""
        self.map.session_id = next_session(str(notes["session"]))
        self.map.reserve_ids(int(notes.get("next_id", 1)))

    def resume(self, archive: Archive, notes: Mapping[str, Any]) -> bool:
        """Go on from a predecessor's map in its next session; the odometry is the same. Raises ForeignFile."""
        voxels = voxels_from(archive, self.config.voxels, math.inf, resumes=True)
        if notes.get("session") == base_session(voxels.session_id):
            voxels.reserve_ids(int(notes["next_id"]))
        self.map = voxels
        return True

    def use(self, voxels: SemanticVoxelMap) -> Callable[[], None]:
        """Take another map into use; return what takes that back."""
        former, self.map = self.map, voxels
        return lambda: setattr(self, "map", former)

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[SemanticVoxelMap], Callable[[], object]] | None = None,
        mark: str | None = None,
    ) -> ArchivePart[SemanticVoxelMap]:
        """Return the part of a saved map. put: by default `use`. kept, mark: see `exchange`, `next_session`."""

        def capture() -> Archive:
            return Archive(KIND, VERSION, *map_to_arrays(self.map))

        def build(archive: Archive) -> SemanticVoxelMap:
            return voxels_from(archive, self.config.voxels, now(), mark=mark)

        return ArchivePart(VOXELS, {KIND: VERSION}, capture, build, put or self.use, kept)
