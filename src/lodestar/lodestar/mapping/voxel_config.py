"""Defaults of the semantic voxel map."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.mapping.association import AssociationConfig
from lodestar.mapping.extraction import ExtractionConfig
from lodestar.mapping.relocation import RelocationConfig
from lodestar.mapping.samples import SampleConfig
from lodestar.mapping.segment_filter import SegmentFilterConfig
from lodestar.mapping.sights import SightConfig
from lodestar.mapping.split_evidence import SplitConfig
from lodestar.mapping.tsdf import GeometryConfig


@dataclass(frozen=True)
class VoxelConfig:
    """Defaults of the semantic voxel map.

    voxel: metres. capacity: voxels at most; what finds no room is counted and dropped.
    prior: votes that "someone else" has in a voxel before the first one.
    vote, background_vote: weight of a frame's vote in a voxel, for an instance and for "no instance".
    hit: occupancy gained when seen (lost: 1 when seen empty); occupancy_top: its maximum.
    margin, margin_per_metre: metres by which depth must pass a voxel to show it empty.
    confirm: observations after which an instance counts. min_points: trusted samples of a usable mask.
    min_voxels: voxels of a mask that starts an instance. min_score: of a detection.
    captions: pairs kept per instance.
    batch: instances in `updated` at most (RoboAtlas eq. 7); recent: seconds; round_robin: instances of it.
    absence_free, absence_inside, absence_voxels, absence_interval: an absence is reported for a confirmed
    instance of at least so many voxels, so large a share of them unhidden in the image, of which so large a share
    was seen empty; at most once per interval in seconds, in which an instance is tested for a miss once too.
    clear_looks: absences running after which it is gone, with
    what is left of its voxels (what stands on a floor cannot be seen empty to its last voxel).
    forget: seconds after which an unconfirmed instance that was not seen again is dropped.
    reach: metres from the origins of `map` and `odom`, beyond which a camera is not believed.
    """

    voxel: float = 0.05
    capacity: int = 4_000_000
    prior: float = 2.0
    vote: int = 4
    background_vote: int = 1
    hit: int = 2
    occupancy_top: int = 12
    margin: float = 0.10
    margin_per_metre: float = 0.02
    confirm: int = 3
    min_points: int = 12
    min_voxels: int = 3
    min_score: float = 0.2
    captions: int = 16
    batch: int = 64
    recent: float = 1.0
    round_robin: int = 8
    absence_free: float = 0.6
    absence_inside: float = 0.6
    absence_voxels: int = 6
    absence_interval: float = 0.5
    clear_looks: int = 3
    miss_range: float = (
        3.0  # metres to its middle, beyond which a detector may overlook what is in clear view
    )
    miss_clear: float = 0.6  # share of an instance that must be in clear view to be missed, [0, 1]
    miss_pixels: int = 150  # pixels of it that must be in clear view to be missed
    forget: float = 30.0
    reach: float = 5000.0
    cleaning: SegmentFilterConfig = field(default_factory=SegmentFilterConfig)
    samples: SampleConfig = field(default_factory=SampleConfig)
    association: AssociationConfig = field(default_factory=AssociationConfig)
    splitting: SplitConfig = field(default_factory=SplitConfig)
    geometry: GeometryConfig = field(default_factory=GeometryConfig)
    extraction: ExtractionConfig = field(default_factory=ExtractionConfig)
    moving: RelocationConfig = field(default_factory=RelocationConfig)
    sights: SightConfig = field(default_factory=SightConfig)
