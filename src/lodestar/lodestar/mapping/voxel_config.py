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
    """Defaults of the semantic voxel map."""

    voxel: float = 0.05  # metres; DESIGN section 4
    capacity: int = 4_000_000  # voxels; further ones are counted and dropped; chosen
    prior: float = 2.0  # votes for "another instance" that a voxel starts with; chosen
    vote: int = 4  # weight of a frame's vote for an instance; chosen
    background_vote: int = 1  # weight of a frame's vote for "no instance"; chosen
    hit: int = 2  # occupancy gained when seen; 1 is lost when seen empty; chosen
    occupancy_top: int = 12  # largest occupancy; chosen
    # metres, and metres per metre of range, by which depth must exceed a voxel's to show it empty; chosen
    margin: float = 0.10
    margin_per_metre: float = 0.02
    confirm: int = 3  # observations after which an instance is confirmed; DESIGN section 4
    min_points: int = 12  # samples without outliers of a usable mask; chosen
    min_voxels: int = 3  # of a mask that starts an instance; chosen
    min_score: float = 0.2  # of a detection, 0..1; chosen
    captions: int = 16  # pairs of label and caption per instance; chosen
    batch: int = 64  # instances that a frame measures again (RoboAtlas eq. 7); value chosen
    recent: float = (
        1.0  # seconds since the last observation of a recent instance (RoboAtlas eq. 7); value chosen
    )
    round_robin: int = 8  # instances of the batch that are taken in turn (RoboAtlas eq. 7); value chosen
    # An absence of a confirmed instance of at least `absence_voxels` voxels is reported if a share `absence_inside` of
    # them is in the image and not hidden, and a share `absence_free` of those was seen empty. Chosen.
    absence_free: float = 0.6
    absence_inside: float = 0.6
    absence_voxels: int = 6
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
