"""Configuration of the grid mappers and of the semantic voxel map."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.geometry.camera import DEPTH_RANGE


@dataclass(frozen=True)
class GeometryConfig:
    """Signed distance field: resolution, fusion and memory."""

    voxel: float = 0.05  # metres; DESIGN section 4
    truncation: float = 0.20  # metres on either side of a surface; DESIGN section 4: 4-5 voxels
    near: float = 0.1  # metres of depth; DESIGN section 4
    # metres of depth; a larger depth shows free space up to here
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    top: int = 64  # weight from which a voxel is a running mean; chosen
    # metres by which all depth around a surface voxel must exceed it to show it empty; each such view halves its
    # weight; chosen
    clear_margin: float = 0.10
    clear_per_metre: float = 0.02  # further metres per metre of range; chosen
    capacity: int = (
        1 << 17
    )  # blocks of 8 x 8 x 8 voxels, 3 KiB each when used; further ones are counted; chosen
    device: str = (
        "cpu"  # or cuda, through torch, which takes more time and leaves the processor free (ADR 0014)
    )


@dataclass(frozen=True)
class FloorConfig:
    """Rules for the surface that counts as floor, and for unseen floor."""

    # a map that says nothing must not call stairs free (ADR 0028). Off = the floor is z = 0 and nowhere ends
    enabled: bool = True
    base_height: float = 0.0  # m, base_link above the ground; 0 = it lies on it (a standing Go2's body: 0.32)
    step: float = 0.12  # m, up between neighbouring cells; a Go2 climbs 0.16 (data sheet), less a margin
    slope: float = 0.15  # rise over run of the floor (8.5 degrees); stairs have 0.5 and more
    gap_step: float = 0.06  # m, difference of height across a gap in which no floor was seen ...
    gap_slope: float = 0.05  # ... and per metre of the gap; a beam over an edge falls by more than that
    doubt: float = (
        0.04  # m under the floor from which on a surface or a ray contradicts it; chosen: twice `noise`
    )
    bridge: float = (
        0.6  # m, widest gap in seen floor that counts as floor: the blind ring of a LiDAR at the start
    )
    ring_gap: float = (
        0.3  # 1/m; from d metres on gaps of ring_gap * d^2 count (rings 2.8 degrees apart, 0.5 m up) ...
    )
    far_bridge: float = (
        4.0  # m, ... and none wider than that; chosen on development buildings 3, 6, 11 and 13
    )
    spread: float = (
        1.0  # m around a contradiction, within which unseen ground is not taken for floor; chosen: a ring gap
    )
    edge: float = 0.5  # m around a drop-off where unseen floor is part of it
    noise: float = 0.02  # m, of the height of a return (range noise and body motion) ...
    noise_per_meter: float = 0.01  # ... and per metre of its range (0.6 degrees of attitude)
    gate: float = 3.0  # standard deviations within which a return tells of the same surface ...
    least_gate: float = 0.05  # ... and at least this far, m
    # m under the robot's feet from which on a ray tells of another storey, which is seen through a stairwell; chosen:
    # five steps, which show a flight, and less than a storey without the headroom of 1.9 m under it
    depth: float = 0.8
    rise: float = 0.3  # m by which a floor may rise where TF drifts; higher things stand on it
    # m over the floor, less noise_per_meter, from which on a thing is an obstacle: a Go2's belly hangs 0.10 over it
    low: float = 0.07
    # m over the floor, up to which it is low: rays pass over it. What is higher the octree marks, and a cell of which a
    # wall or a leg covers a corner is not taken for full; chosen: a pallet is 0.15 high
    low_top: float = 0.2
    low_reach: float = 2.5  # m, within which returns tell of it; chosen: attitude adds 0.025 m there


@dataclass(frozen=True)
class OctoMapConfig:
    """Update of voxels by rays, and projection of voxels to cells of the plan."""

    resolution: float = 0.1  # metres, of voxels and cells (ADR 0008)
    max_range: float = 12.0  # metres; longer rays are free up to it; chosen
    min_range: float = 0.3  # metres; shorter rays are the robot itself; chosen
    band_low: float = 0.1  # metres above the floor from which a voxel is an obstacle; chosen: below is noise
    band_high: float = (
        0.6  # metres above the floor up to which it is one; chosen: the robot fits under the rest
    )
    depth_stride: int = 8  # pixels between rays of a depth image; chosen
    # metres, reliable range of depth
    depth_range: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    growth: float = 4.0  # metres by which the grid grows at a time; chosen
    max_cells: int = 64_000_000  # beyond which the grid refuses to grow; chosen
    # blocks of 8 x 8 x 8 voxels, 2.5 KiB each when used; further ones are counted and told; chosen: 134,000 m3 at 0.1 m
    blocks: int = 1 << 18
    floor: FloorConfig = field(default_factory=FloorConfig)  # floor layer; unless enabled the floor is z = 0


@dataclass(frozen=True)
class ScanGridConfig:
    """Update of cells by beams, and extent of the grid."""

    resolution: float = 0.1  # metres; as OctoMapConfig
    hit: float = 0.85  # log-odds added per scan (probability 0.7, Hornung et al. 2013)
    miss: float = -0.4  # log-odds added per scan (probability 0.4, Hornung et al. 2013)
    lowest: float = -2.0  # log-odds; chosen: a changed place is updated within ten scans
    highest: float = 3.5  # log-odds; chosen likewise
    max_range: float = 12.0  # metres; longer beams count as free up to it; chosen
    # whether the driver reports inf only for a beam that met nothing, so that it is free up to max_range; otherwise a
    # beam without a return has no effect, like a point that is missing from a cloud (ADR 0027)
    free_without_return: bool = False
    min_range: float = 0.1  # metres; shorter returns are the robot itself; chosen
    growth: float = 4.0  # metres by which the grid grows at a time; chosen
    max_cells: int = 64_000_000  # beyond which the grid refuses to grow; chosen


@dataclass(frozen=True)
class TurnFilterConfig:
    """Least time and motion between two turns that are integrated."""

    period: float = 0.25  # seconds; chosen
    distance: float = 0.15  # metres that the sensor must have moved; chosen
    # seconds after which a turn from the same place is integrated too; chosen: others may have moved
    still_period: float = 0.5


@dataclass(frozen=True)
class RangeMoverConfig:
    """Limits of a mover in the turns of a range sensor; how it moves is `shared.movers`. All values are chosen."""

    enabled: bool = True  # follow movers
    # m, heights over the ground under the robot of the returns of a LiDAR that count: no floor, no ceiling
    band: tuple[float, float] = (0.35, 1.7)
    near: float = 0.2  # m, least range, and at least the mapper's min_range
    legs: float = 0.15  # m around `shared.body` in which returns are the robot itself: legs swing
    carried: float = 0.4  # m around it in which what stays where it is seen from the robot is a part of it
    far: float = 5.0  # m, largest range: who walks is there in 3 s
    memory: float = 2.5  # s for which turns are remembered: who stands as long is no news
    margin: float = 0.15  # m by which a beam must have gone on beyond a return
    beside: float = 0.15  # m at either side within which all of them must have: beams graze walls
    lag: float = 0.05  # s, error of stamps, and of poses within a turn; widens that as the robot turns
    passes: int = 2  # remembered turns of which the beams went on; one may be an error
    least: int = 4  # returns of a body
    wide: float = 0.9  # m, of one body; what is wider is a group, whose parts are followed each
    part: float = 0.6  # m, of a part of a group: a person with room at either side
    widest: float = 6.0  # m, of a group; more is a room that comes into view
    moved: float = 0.35  # m by which it has moved on: a return that comes and goes stays where it is
    slowest: float = 0.25  # m/s, likewise
    life: float = 2.0  # s without a return after which it is over

    def __post_init__(self) -> None:
        if not (0.0 <= self.near < self.far and self.band[0] < self.band[1]):
            raise ValueError("movers.near must be below movers.far, and movers.band rising")
        if min(self.beside, self.lag, self.legs) < 0.0 or self.carried < self.legs:
            raise ValueError(
                "movers.beside, movers.lag and movers.legs must be at least 0, and movers.carried at least legs"
            )
        if not 0.0 < self.part <= self.wide <= self.widest:
            raise ValueError(
                "movers.part must be above 0, at most movers.wide, and that at most movers.widest"
            )
        if min(self.memory, self.margin, self.life) <= 0.0 or min(self.passes, self.least) < 1:
            raise ValueError(
                "movers needs memory, margin and life above 0, and passes and least of at least 1"
            )


@dataclass(frozen=True)
class OpenVoxConfig:
    """A mask shows the instance with the largest score geometric_weight x posterior mass + caption_weight x cosine.

    The posterior mass is the mean over the mask's voxels (RoboAtlas IV-B, OpenVox).
    """

    accept: float = 0.4  # least score; DESIGN section 4
    geometric_weight: float = 0.8  # DESIGN section 4
    caption_weight: float = 0.2  # DESIGN section 4


@dataclass(frozen=True)
class FarmConfig:
    """Instances that look alike and lie near each other are one (FARM D.1 steps 3 to 5)."""

    similar: float = 0.5  # cosine of features from which a mask may show an instance; chosen
    budget: float = 0.7  # largest Hellinger distance of their Gaussians, 0..1; chosen
    reach: float = 0.5  # metres around a mask's box within which instances are compared; chosen


@dataclass(frozen=True)
class AppearanceConfig:
    """Use of appearance features by the rule lodestar; a describer of `perception` makes them."""

    weight: float = 1.0  # of what they say against the labels' agreement, 0..1; 0 = none; chosen
    samples: int = 40  # pairs of the same thing, and of two of a kind, before they say anything; chosen
    certain: float = 0.7  # share of a mask's points in an instance's voxels from which it is a sample; chosen
    # A mask beside an instance that looks like it claims it by `near` times the share of its points within `reach`.
    near: float = 0.5  # factor; chosen
    reach: float = 0.3  # metres around the instance's box; chosen
    distinct: float = 0.1  # probability of one thing below which two instances do not merge; chosen

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0 or self.samples < 1 or min(self.near, self.reach) < 0.0:
            raise ValueError(
                "appearance.weight must be 0 to 1, samples at least 1, near and reach not negative"
            )


@dataclass(frozen=True)
class AssociationConfig:
    """`openvox` and `farm` configure those rules; all other fields belong to the rule lodestar.

    A mask shows an instance if geometric_weight x geometry + label_weight x agreement >= accept.
    Agreement is that of kinds (`models.kinship`): sofa and couch agree, chair and table do not.
    Geometry is the share of the mask's points in voxels of the instance or, if the labels agree,
    `containment_weight` times the share within the instance's box grown by `box_margin`.
    """

    rule: str = "lodestar"  # lodestar, openvox or farm; chosen
    accept: float = 0.4  # least score; DESIGN section 4
    geometric_weight: float = 0.8  # DESIGN section 4
    label_weight: float = 0.2  # DESIGN section 4
    containment_weight: float = 0.75  # factor of the share within the box; chosen
    box_margin: float = 0.05  # metres; chosen
    # share of a mask's points in an instance's voxels from which it may be a second mask of that instance; chosen
    second_share: float = 0.5
    # A mask that covers two alike instances is evidence for a merge.
    covered_share: float = (
        0.6  # share of an instance's points in the frame that a covering mask contains; chosen
    )
    covered_points: int = 8  # number of them, at least; chosen
    contained_share: float = (
        0.6  # of the smaller box in the larger, from which two of a kind may be one; chosen
    )
    merge_evidence: int = 3  # frames for a merge, less those against it; chosen
    near: float = 0.5  # metres between boxes of instances that may be one; chosen
    # Faces of one object (`FaceEvidence`); all chosen:
    face_observations: int = 2  # of each face
    face_growth: float = 1.15  # length of both together over that of the longer one ...
    face_slack: float = 0.1  # ... plus metres
    face_height: float = 0.6  # share of their heights in common
    face_empty: float = 0.15  # largest share of the space between them that was ever seen empty
    face_hidden: float = 0.5  # least share of that space that was in view
    face_apart: float = 0.15  # largest share of the frames that showed two objects
    appearance: AppearanceConfig = field(default_factory=AppearanceConfig)
    openvox: OpenVoxConfig = field(default_factory=OpenVoxConfig)
    farm: FarmConfig = field(default_factory=FarmConfig)


@dataclass(frozen=True)
class ExtractionConfig:
    """Weights of the points that form an instance's geometry.

    Each sample weighs 1 / range^2 (from 1 m on), as the depth's error grows with the square of the range.
    """

    trim: float = 0.01  # share of the mass cut off at either end of the box, along each axis; chosen
    # largest mass of a voxel; chosen: a part that was seen often must not outweigh the rest
    most: float = 0.3
    # A voxel has full weight after votes of `solid` frames, if a share `enough` of the instance's voxels has as many.
    # With fewer votes its weight is (votes / solid) ** faith: false points of single masks differ between views, and an
    # instance that was seen only once or twice keeps all its voxels.
    solid: int = 3  # frames; DESIGN section 4
    enough: float = 0.2  # share, 0..1; chosen
    faith: float = 4.0  # exponent; chosen


@dataclass(frozen=True)
class RelocationConfig:
    """Limits within which a new instance is a disappeared one that was moved."""

    size: float = 1.6  # largest ratio of the longest sides; chosen


@dataclass(frozen=True)
class SampleConfig:
    """Selection of pixels of a mask and removal of outliers in depth."""

    near: float = 0.1  # metres of depth; DESIGN section 4
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})  # metres of depth
    max_step: int = 8  # pixels between samples of a large mask; chosen
    samples: int = 400  # pixels of a mask up to which about all are sampled; chosen
    gap: float = 0.12  # metres of a jump in depth that separates two layers of a mask; chosen
    gap_per_metre: float = 0.03  # further metres per metre of range; chosen
    # share of the largest layer's samples from which a further layer belongs to the object, as a shelf's back; chosen
    keep_share: float = 0.35
    keep_reach: float = 0.6  # metres from the largest layer within which it does; chosen


@dataclass(frozen=True)
class SegmentFilterConfig:
    """Limits on the detections of a frame."""

    text: int = 200  # characters of a label or caption that are kept; chosen
    detections: int = 256  # of a frame that are used, by score and size; chosen


@dataclass(frozen=True)
class SightConfig:
    """Choice and resolution of the views that are kept."""

    views: int = 192  # kept at most, the oldest is dropped; chosen
    step: int = 8  # pixels of the image per pixel of the coarse image; chosen
    moved: float = 0.3  # metres from the last kept view from which another is kept; chosen
    turned: float = 0.3  # radians from the last kept view from which another is kept; chosen
    margin: float = 0.15  # metres by which depth must exceed a place's range to show it empty; chosen


@dataclass(frozen=True)
class SplitConfig:
    """Frames for and against one instance being two objects.

    A frame counts double if the two captions differ. An instance with enough evidence is split at the next frame whose
    masks show it whole, because only that frame shows which part belongs to which object.
    """

    evidence: float = (
        4.0  # frames that show two objects less those that show one, from which it is split; chosen
    )
    # share of a mask's points in the other's box from which two masks are not apart; chosen
    overlap: float = 0.25
    whole: float = (
        0.8  # share of the extent from which one mask shows the whole and counts against two; chosen
    )
    single: float = 0.25  # frames that a mask of a smaller share counts against two; chosen


@dataclass(frozen=True)
class VoxelConfig:
    """Defaults of the semantic voxel map."""

    voxel: float = 0.05  # metres; DESIGN section 4
    # voxels, 76 bytes each when used, and their blocks; further ones are counted and told; chosen: four times what a
    # building of 1,800 m2 with 30,000 things takes (docs/measurements/scale-tour.md)
    capacity: int = 12_000_000
    prior: float = 2.0  # votes for "another instance" that a voxel starts with; chosen
    vote: int = 4  # weight of a frame's vote for an instance; chosen
    # Weights of a frame's vote for "no instance" in a voxel in clear view that no mask covers (ADR 0081)
    background_vote: int = 1  # of an instance without a mask, which may have been overlooked; chosen
    background_every: int = 3  # frames with segments of which one casts that vote; chosen
    outside_vote: int = 4  # of an instance that has one: the detector saw where it ends
    hit: int = 2  # occupancy gained when seen; 1 is lost when seen empty; chosen
    occupancy_top: int = 12  # largest occupancy; chosen
    margin: float = 0.10  # metres by which depth must exceed a voxel's to show it empty; chosen
    margin_per_metre: float = 0.02  # further metres per metre of range; chosen
    confirm: int = 3  # observations after which an instance is confirmed; DESIGN section 4
    min_points: int = 12  # samples without outliers of a usable mask; chosen
    min_voxels: int = 3  # of a mask that starts an instance; chosen
    min_score: float = 0.2  # of a detection, 0..1; chosen
    captions: int = 16  # pairs of label and caption per instance; chosen
    label_votes: float = (
        10.0  # sum of an instance's votes for labels; older ones give way. About 12 images; chosen
    )
    batch: int = 64  # instances that a frame measures again (RoboAtlas eq. 7); value chosen
    # instances of the batch that are taken in turn (RoboAtlas eq. 7); the others are what changes, the nearest and what
    # has waited longest (`RefreshQueue`); value chosen
    round_robin: int = 8
    # An absence of a confirmed instance of at least `absence_voxels` voxels is reported if a share `absence_inside` of
    # them is in the image and not hidden, and a share `absence_free` of those was seen empty.
    absence_free: float = 0.6  # share, 0..1; chosen
    absence_inside: float = 0.6  # share, 0..1; chosen
    absence_voxels: int = 6  # chosen
    absence_interval: float = 0.5  # seconds between two absences, and between two tests for a miss; chosen
    # absences in a row after which an instance is removed with its remaining voxels; chosen: an object on the floor
    # is never seen empty down to its last voxel
    clear_looks: int = 3
    miss_range: float = 3.0  # metres to its middle; chosen: beyond, detectors overlook objects in clear view
    miss_clear: float = 0.6  # share of an instance that must be in clear view to be missed, 0..1; chosen
    miss_pixels: int = 150  # pixels of it that must be in clear view to be missed; chosen
    forget: float = (
        30.0  # seconds without an observation after which an unconfirmed instance is dropped; chosen
    )
    reach: float = 5000.0  # metres from the origins of `map` and `odom`; poses beyond are rejected; chosen
    cleaning: SegmentFilterConfig = field(default_factory=SegmentFilterConfig)
    samples: SampleConfig = field(default_factory=SampleConfig)
    association: AssociationConfig = field(default_factory=AssociationConfig)
    splitting: SplitConfig = field(default_factory=SplitConfig)
    geometry: GeometryConfig = field(default_factory=GeometryConfig)
    extraction: ExtractionConfig = field(default_factory=ExtractionConfig)
    moving: RelocationConfig = field(default_factory=RelocationConfig)
    sights: SightConfig = field(default_factory=SightConfig)

    def __post_init__(self) -> None:
        if self.background_every < 1:
            raise ValueError("background_every must be at least 1; background_vote 0 casts no such vote")
