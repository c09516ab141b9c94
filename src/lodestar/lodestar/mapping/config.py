"""Configuration of the grid mappers and of the semantic voxel map."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.geometry.camera import DEPTH_RANGE

GEOMETRY_TOP = 64  # weight of a surface voxel from which it is a running mean; chosen
# metres by which all depth around a surface voxel must exceed it to show it empty; each such view halves its
# weight; chosen
GEOMETRY_CLEAR_MARGIN = 0.10
GEOMETRY_CLEAR_PER_METRE = 0.02  # metres per metre of range, added to GEOMETRY_CLEAR_MARGIN; chosen
FLOOR_STEP = 0.12  # m, step up between neighbouring cells; a Go2 climbs 0.16 (data sheet), less a margin
SCAN_GRID_MIN_RANGE = 0.1  # metres; shorter returns of a scan are the robot itself; chosen
TURN_FILTER_PERIOD = 0.25  # seconds between two turns that are integrated; chosen
RANGE_MOVER_FAR = 5.0  # m, largest range at which movers are tracked: a walking person covers it in about 3 s
SAMPLE_NEAR = 0.1  # metres, least depth of which points are taken; DESIGN section 4
VOXEL_SIZE = 0.05  # metres, side of a voxel; DESIGN section 4
VOXEL_PRIOR = 2.0  # votes for "another instance" that a voxel starts with; chosen
VOXEL_VOTE = 4  # weight of a frame's vote for an instance; chosen
VOXEL_HIT = 2  # occupancy that a voxel gains when seen; 1 is lost when seen empty; chosen
VOXEL_OCCUPANCY_TOP = 12  # largest occupancy of a voxel; chosen
VOXEL_MARGIN = 0.10  # metres by which depth must exceed a voxel's to show it empty; chosen
VOXEL_MARGIN_PER_METRE = 0.02  # metres per metre of range, added to VOXEL_MARGIN; chosen
VOXEL_CONFIRM = 3  # observations after which an instance is confirmed; DESIGN section 4
VOXEL_CAPTIONS = 16  # most pairs of label and caption that an instance keeps; chosen
# sum of an instance's votes for labels; older ones give way. About 12 images; chosen
VOXEL_LABEL_VOTES = 10.0
VOXEL_ABSENCE_VOXELS = 6  # voxels seen empty from which an instance may be absent; chosen


@dataclass(frozen=True)
class GeometryConfig:
    """Signed distance field: voxel size, truncation, range of depth, memory and device."""

    voxel: float = 0.05  # metres; DESIGN section 4
    truncation: float = 0.20  # metres on either side of a surface; DESIGN section 4: 4-5 voxels
    near: float = 0.1  # metres of depth; DESIGN section 4
    # metres of depth; a larger depth shows free space up to here
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    # blocks of 8 x 8 x 8 voxels, 3 KiB each when used; further ones are dropped and counted; chosen
    capacity: int = 1 << 17
    # cpu, or cuda, through torch, which takes more time and leaves the processor free (ADR 0009)
    device: str = "cpu"


@dataclass(frozen=True)
class FloorConfig:
    """Floor layer of the occupancy map: on or off, height of base_link, widest gap that counts as floor."""

    # cells without floor data must not count as free: they may be stairs (ADR 0027). Off = the floor is z = 0
    enabled: bool = True
    base_height: float = 0.0  # m, base_link above the ground; 0 = it lies on it (a standing Go2's body: 0.32)
    far_bridge: float = 4.0  # m, widest gap that counts; chosen on development buildings 3, 6, 11 and 13


@dataclass(frozen=True)
class OctoMapConfig:
    """Occupancy voxels and the 2-D grid projected from them: resolution, ranges, height band and limits."""

    resolution: float = 0.1  # metres, of voxels and cells (ADR 0009)
    max_range: float = 12.0  # metres; longer rays are free up to it; chosen
    min_range: float = 0.3  # metres; shorter rays are the robot itself; chosen
    band_low: float = 0.1  # metres above the floor from which a voxel is an obstacle; chosen: below is noise
    # metres above the floor up to which a voxel is an obstacle; chosen: the robot fits under the rest
    band_high: float = 0.6
    # metres, reliable range of depth
    depth_range: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    max_cells: int = 64_000_000  # beyond which the grid refuses to grow; chosen
    # blocks of 8 x 8 x 8 voxels, 2.5 KiB each when used; further ones are dropped, reported; chosen: 134,000
    # m3 at 0.1 m
    blocks: int = 1 << 18
    floor: FloorConfig = field(default_factory=FloorConfig)  # floor layer; unless enabled the floor is z = 0


@dataclass(frozen=True)
class ScanGridConfig:
    """Update of grid cells by the beams of a planar scan, and growth of the grid."""

    max_range: float = 12.0  # metres; longer beams count as free up to it; chosen
    # whether the driver reports inf only for a beam that met nothing, so that it is free up to max_range; otherwise a
    # beam without a return has no effect, like a point that is missing from a cloud (ADR 0027)
    free_without_return: bool = False
    growth: float = 4.0  # metres by which the grid grows at a time; chosen


@dataclass(frozen=True)
class RangeMoverConfig:
    """Detection of movers by a range sensor: least range, stamp error, life of an unseen mover."""

    enabled: bool = True  # whether movers are tracked
    near: float = 0.2  # m, least range, and at least the mapper's min_range
    # s, error of stamps, and of poses within a turn; widens RANGE_MOVER_BESIDE as the robot turns
    lag: float = 0.05
    life: float = 2.0  # s without a return after which a mover is forgotten

    def __post_init__(self) -> None:
        if not 0.0 <= self.near < RANGE_MOVER_FAR or self.lag < 0.0 or self.life <= 0.0:
            raise ValueError(
                f"movers.near must be at least 0 and below {RANGE_MOVER_FAR:g} m, lag at least 0, life above 0"
            )


@dataclass(frozen=True)
class SampleConfig:
    """Largest depth of the points that are sampled from a mask."""

    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})  # metres of depth


@dataclass(frozen=True)
class VoxelConfig:
    """Limits of the semantic voxel map, with the configurations of samples and surfaces."""

    # voxels, 76 bytes each when used, and their blocks; further ones are dropped and reported; chosen: four
    # times the voxels of a building of 1,800 m2 with 30,000 objects (docs/measurements/scale-tour.md)
    capacity: int = 12_000_000
    batch: int = 64  # instances that a frame measures again (RoboAtlas eq. 7); value chosen
    # instances of the batch that are taken round robin (RoboAtlas eq. 7); the others have changed, and are
    # the nearest or have waited longest (`RefreshQueue`); value chosen
    round_robin: int = 8
    # seconds without an observation after which an unconfirmed instance is dropped; chosen
    forget: float = 30.0
    samples: SampleConfig = field(default_factory=SampleConfig)
    geometry: GeometryConfig = field(default_factory=GeometryConfig)
