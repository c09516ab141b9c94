"""Chain that builds voxels, object instances and pillars from posed images, at the rates of semantic_voxels.

Pillars hold the instances over each cell of a 2D grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from lodestar.assembly import parts
from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.instances.pillars import PillarMap
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.mapping.movers.mover_tracks import MoverTracker
from lodestar.mapping.persistence import KIND, VERSION, map_to_arrays, voxels_from
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.movers import split_movers
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import VOXELS, ArchivePart, base_session, next_session
from lodestar.timing.stamps import Periodic

SEMANTIC_VOXELS_PILLAR_RESOLUTION = 0.1  # m, side of a pillar; the resolution of the grid


class VoxelChain:
    """Updates the voxel map at its configured rates, and saves and loads it.

    The map has its own lock; depth, segments and layers may come on separate threads. `take_depth` and
    `take_segments` raise FrameRejected, which the map counts (`map.rejected`). People and animals are not
    part of the map: `movers` tracks them, and their depth is left out (ADR 0082).
    """

    def __init__(self, config: SemanticVoxelsConfig, shared: SharedConfig, session_id: str = "") -> None:
        self.config = config
        self.map: SemanticVoxelMap = parts.voxel_map(config, shared, session_id)
        self.movers = MoverTracker(shared.movers)
        self._geometry_due = Periodic(config.geometry_period)

    def restart_clock(self) -> None:
        """Accept the next frame although its stamp is older: the clock went back."""
        self.map.restart_clock()
        self.movers.restart_clock()

    def wants_depth(self, stamp: float) -> bool:
        """Return whether depth without segments is due; if so, count it."""
        return self._geometry_due.due(stamp)

    def take_depth(self, frame: RgbdFrame) -> None:
        """Integrate a depth image without segments that `wants_depth` has selected."""
        self.map.integrate_depth(self.movers.without_movers(frame))

    def take_segments(self, frame: RgbdFrame, segmented: SegmentedFrame) -> InstanceDelta:
        """Fuse a segmented frame, without its people and animals, into the map.

        Return the changed instances, and the tracks of people and animals in the frame (see `is_track`).
        """
        split = split_movers(frame, segmented, self.movers.config)
        try:
            delta = self.map.fuse(split.frame, split.still)
        except FrameRejected:
            if split.sights and not (split.frame.depth > 0.0).any():  # a mover fills the image
                self.movers.take(frame, split)
            raise
        self.movers.take(frame, split)
        return self.movers.told(delta)

    def take_movers(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Track a frame's people and animals.

        Call it before its depth is integrated, if its segments are known.
        """
        self.movers.take(frame, split_movers(frame, segmented, self.movers.config))

    def pillars(self, band: tuple[float, float] | None = None) -> PillarMap:
        """Return the instances over each cell of a 2D grid with cells of SEMANTIC_VOXELS_PILLAR_RESOLUTION.

        band: lowest and highest z in map, metres, of the floor; None = all.
        """
        return self.map.pillars(SEMANTIC_VOXELS_PILLAR_RESOLUTION, band)

    # --- restarts and saved maps --------------------------------------------------------------------------

    @property
    def notes(self) -> dict[str, Any]:
        """Return the session and the next free id, so that a restarted process reuses no published id."""
        return {"session": base_session(self.map.session_id), "next_id": self.map.next_id}

    def succeed(self, notes: Mapping[str, Any]) -> None:
        """Continue after an earlier process whose map is lost.

        The map gets the process's next session, and ids above those it has given.
        """
        self.map.session_id = next_session(str(notes["session"]))
        self.map.reserve_ids(int(notes.get("next_id", 1)))

    def resume(self, archive: Archive, notes: Mapping[str, Any]) -> bool:
        """Resume the map of an earlier process with the same odometry frame, in its next session. Return
        True. Raises ForeignFile.
        """
        voxels = voxels_from(archive, self.config.voxels, math.inf, resumes=True)
        if notes.get("session") == base_session(voxels.session_id):
            voxels.reserve_ids(int(notes["next_id"]))
        self.map = voxels
        return True

    def use(self, voxels: SemanticVoxelMap) -> Callable[[], None]:
        """Replace the voxel map. Returns an undo function."""
        former, self.map = self.map, voxels
        return lambda: setattr(self, "map", former)

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[SemanticVoxelMap], Callable[[], object]] | None = None,
        mark: str | None = None,
    ) -> ArchivePart[SemanticVoxelMap]:
        """Return the part of a saved map that holds the voxels.

        put: puts a loaded voxel map into use and returns an undo function; default: `use`. kept: see
        `exchange`. mark: see `next_session`.
        """

        def capture() -> Archive:
            return Archive(KIND, VERSION, *map_to_arrays(self.map))

        def build(archive: Archive) -> SemanticVoxelMap:
            return voxels_from(archive, self.config.voxels, now(), mark=mark)

        return ArchivePart(VOXELS, {KIND: VERSION}, capture, build, put or self.use, kept)
