"""Defaults of the memory, one frozen record per part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.grid.config import LookConfig

BACKENDS = ("sqlite", "milvus_lite", "milvus")


@dataclass(frozen=True)
class StoreConfig:
    """Location, durability, limits and retention of the store (ADR 0063).

    backend: what finds memories by words. "sqlite" = a matrix of the database's vectors in memory; "milvus_lite" = a
    Milvus Lite beside the database; "milvus" = the server or cluster at `uri`, which several robots may share. The
    database keeps everything in each case.
    """

    folder: str = ""  # of the database and of Milvus Lite; "" = memory/ in this user's state folder
    backend: str = (
        "sqlite"  # what finds memories by words: sqlite, milvus_lite or milvus; measured (ADR 0063)
    )
    uri: str = ""  # of a Milvus server or cluster, as http://host:19530
    token: str = ""  # user:password or API key of the server; "" = none
    collection: str = "lodestar_memory"  # in Milvus
    robot: str = "robot"  # partition key; every robot that shares a server needs its own
    dimension: int = 384  # of a vector; all-MiniLM-L6-v2

    sync_interval: float = (
        1.0  # seconds of real time between writes to the disk; chosen: the most that a power cut may take
    )
    flush_interval: float = 1.0  # seconds of real time between turns of the worker; chosen
    flush_batch: int = 256  # records per upsert; chosen
    embed_batch: int = 64  # texts per call of the embedder; its own batch
    # seconds of real time after an upsert in which the vector is read from the database too; above the 5 s of Milvus'
    # bounded staleness
    settle: float = 10.0
    seal_after: int = (
        4000  # records upserted before Milvus is told to seal them; chosen: each seal makes a file
    )
    retry: float = 5.0  # seconds of real time before Milvus or the embedder is tried again; chosen
    timeout: float = 10.0  # seconds of real time for a call of the server; chosen

    max_text: int = 4000  # characters of a text; chosen: 12 times a caption. Longer ones are cut
    max_primitives: int = 256  # of one record; chosen. The largest in the image are kept
    full_time: float = 86400.0  # seconds for which everything is kept (issue 16)
    long_time: float = 30 * 86400.0  # seconds for which operator's words and events are kept; chosen
    max_records: int = 100_000  # to which older ones are thinned (issue 16)
    thin_to: float = 0.9  # share of max_records left by a thinning, 0..1; chosen: it runs seldom
    same_place: float = 2.0  # metres, side of the cell within which records are compared; chosen
    same_vector: float = 0.9  # cosine from which texts say the same; chosen
    same_entities: float = 0.5  # Jaccard index from which records show the same things, 0..1; chosen

    overfetch: int = 2  # times the limit asked of Milvus: its filter takes a square for the circle; chosen

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend is {self.backend!r}; write one of {', '.join(BACKENDS)}")
        if bool(self.uri) != (self.backend == "milvus"):
            raise ValueError(
                "the backend milvus needs a uri, as http://host:19530, and no other backend has one"
            )
        if not self.robot or len(self.robot) > 64:
            raise ValueError("robot needs a name of 1 to 64 characters")
        counts = (
            self.dimension,
            self.flush_batch,
            self.embed_batch,
            self.max_text,
            self.max_records,
            self.overfetch,
        )
        if min(counts) < 1:
            raise ValueError("dimension, batches, limits and overfetch must be at least 1")
        if min(self.sync_interval, self.flush_interval, self.retry, self.timeout, self.same_place) <= 0.0:
            raise ValueError("intervals, timeout and same_place must be above 0")
        if not 0.0 < self.thin_to <= 1.0:
            raise ValueError("thin_to must be above 0 and at most 1")


@dataclass(frozen=True)
class SegmentConfig:
    """Rules by which observations become segments with a caption, and changes of the scene become events."""

    seconds: float = 3.0  # of a segment (STaR VI-3: one caption every 3 s)
    lateness: float = 1.0  # seconds that a segment waits for records of slower streams; chosen
    clock_jump: float = 10.0  # seconds backwards from which the clock was set, and not a record late; chosen
    pose_gap: float = (
        0.5  # seconds between an image and the nearest pose beyond which it has no place; chosen
    )
    max_speed: float = 2.0  # m/s in map; above the robots that are driven (Go2 walks 1.5 m/s); chosen
    max_turn: float = 3.0  # rad/s in map; chosen likewise
    jump: float = 0.5  # metres beyond max_speed from which the robot was carried or lost; chosen
    jump_angle: float = math.radians(30.0)  # radians beyond max_turn, likewise; chosen
    settle: float = 3.0  # seconds after a jump for which the pose is not trusted; chosen
    min_pixels: int = 25  # of a mask at which a thing counts as seen; chosen
    max_primitives: int = 32  # things per segment, the largest in the images first; chosen
    max_described: int = 16  # things in a caption; chosen: what 512 characters hold
    max_relations: int = 6  # in a caption; chosen
    min_relation: float = 0.5  # score from which a relation is told, half true (FARM D.2)
    max_characters: int = 480  # of a caption; the text model reads 512 (models.embedder)
    drive: float = 0.5  # metres in a segment from which driving alone is worth a caption; chosen
    stand: float = 0.15  # metres in a segment below which the robot was not driving; chosen: 5 cm/s
    look_turn: float = math.radians(
        30.0
    )  # radians in such a segment from which it was looking around; chosen


@dataclass(frozen=True)
class EventConfig:
    """Limits from which on a change of the scene is an event."""

    # metres that an entity must move; scene.static_motion, well above localisation noise (jumps from 0.1 m re-anchor)
    moved: float = 0.5
    moved_extent: float = (
        0.5  # share of its longer side in plan, likewise: a box grows as more is seen; chosen
    )
    # metres of the longer side in plan from which something near another of its kind may be a part of it; chosen
    part_extent: float = 1.0
    part_reach: float = 1.0  # metres between the two, likewise; BottleneckConfig.reach
    settle: float = 5.0  # seconds that a change must last, so that merges and second looks come first; chosen
    looks: int = 3  # seconds in which a place was looked at before something can appear there; chosen
    before: float = 10.0  # seconds between those looks and the first sight of the thing; chosen
    # of a look that would have shown the thing: `near` and `near_fov`
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    around: float = 0.25  # metres around a place within which a look is one at it; chosen
    max_known: int = 50_000  # entities whose place is remembered, the oldest dropped first; chosen


@dataclass(frozen=True)
class LastSeenConfig:
    """The record of places where things were last seen."""

    same_place: float = 0.5  # metres between two places that are one; EventConfig.moved
    same_time: float = 5.0  # seconds between the sight of a segment and that of the scene; SegmentConfig
    # seconds in which a place was looked at without its thing, after which it is empty; chosen: an arrival lasts two,
    # and the map confirms in one what is there
    looks: int = 2
    # of a look that would have shown the thing: `near` and `near_fov`
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    look_sizes: float = (
        15.0  # likewise, times its longest side: a mug shows from 1.5 m; chosen: 15 pixels of 320
    )
    look_from: float = 0.3  # metres before the camera, likewise: nearer things fill the image; chosen
    # radians in height, likewise; chosen: narrower than any that is shipped
    look_height: float = math.radians(40.0)
    max_places: int = 2000  # that are remembered, the oldest sights dropped first; chosen: some floors
    # seconds after which the place where a person or an animal was seen is no place to look for one; chosen: twice
    # the half-life of such places (category_priors.yaml)
    mover_age: float = 600.0
    told: int = 500  # places that are told to the experts, the newest first; chosen: a message of 200 kB
    period: float = 2.0  # seconds of real time between two tellings; chosen: a decision takes longer

    def __post_init__(self) -> None:
        if min(self.same_place, self.look_sizes, self.period) <= 0.0:
            raise ValueError("same_place, look_sizes and period must be above 0")
        if min(self.looks, self.max_places, self.told) < 1:
            raise ValueError("looks, max_places and told must be at least 1")


@dataclass(frozen=True)
class BottleneckConfig:
    """Task-conditioned retrieval (STaR IV-B)."""

    # tau: caption score as a share of the best one's from which it induces primitives; chosen, see the measurements
    threshold: float = 0.6
    alpha: float = 0.35  # of eq. 6: cosine below which a thing has nothing to do with a cue; chosen
    top_tasks: int = 2  # k of eq. 7; as Clio, whose formula it is
    max_loss: float = 0.02  # delta bar: share of the task information that one merge may lose; chosen
    reach: float = 1.0  # metres between the boxes of neighbours; chosen, ADR 0038
    # metres in plan of a cluster at most: chains of like things would make one of a whole aisle. The paper has no such
    # bound; chosen: the distance at which an answer counts as right (STaR V-3)
    max_span: float = 5.0
    max_neighbors: int = 16  # of a primitive, the nearest; bounds the graph
    same_place: float = 0.5  # metres; the same entity further away is another primitive; EventConfig.moved
    # of the induced subset; captions with the lowest scores are left out before it is passed; bounds the cost
    max_primitives: int = 2_000
    # 0..1, share of the things' own words in a caption's relevance phi of eq. 9 and 10; 0 = the paper's, the caption
    # alone. Chosen: a long caption dilutes the one thing that is asked for
    things_share: float = 0.5
    # which caption stands for a cluster: the "relevant" one (eq. 9), or with it the "first" or "last" that shows the
    # thing of it that is asked for most. Each question sets it: "when did you last see" needs the last (STaR III)
    representative: str = "relevant"
    # 0..1, share of the best caption's relevance from which the first or last of them fills the room; chosen
    same_worth: float = 0.8
    evidence: int = 6  # K of eq. 10 (ReMEmbR's window, STaR VI-2)
    keyframes: int = 6  # images at most that go with the evidence; one per piece


@dataclass(frozen=True)
class SnapshotConfig:
    """Choice of the images that stand for entities (SnapMem 3.1 and 3.2)."""

    inclusion_distance: float = (
        3.5  # metres, camera to box in plan; farther sights count if no nearer one (SnapMem 9)
    )
    # 0..1, weight of how well an image shows an entity; 0 = only how many it shows; chosen (ADR 0037)
    quality_weight: float = 0.9
    full_share: float = (
        0.07  # of an image's area from which an entity in it is shown fully; chosen: 150^2 of 640x480
    )
    cut_factor: float = 0.6  # of the quality for each border of the image that cuts the box; chosen
    # share of the smaller of two boxes in the image, 0..1: where the entity was seen and where it is now; below it, the
    # image does not show the entity any more; chosen
    least_overlap: float = 0.3
    slack: float = (
        0.03  # of the image's width, by which both boxes are widened before; chosen: errors of the pose
    )
    recheck: float = (
        0.1  # metres that a corner of an entity's box moves before its images are checked again; chosen
    )
    keep_bonus: float = (
        1.15  # factor on the worth of an image that is a snapshot already; chosen: fewer changes
    )
    history: int = 4096  # removals that are remembered for late subscribers; chosen


@dataclass(frozen=True)
class FrontierSnapshotConfig:
    """Choice of the image that shows a frontier (SnapMem App. 8)."""

    same_overlap: float = (
        0.95  # IoU of a frontier's cells with those of its image, below which it gets a new image
    )
    image_range: float = 6.0  # metres from which an image may show a frontier; chosen
    images: int = 500  # keyframes that are remembered; chosen
