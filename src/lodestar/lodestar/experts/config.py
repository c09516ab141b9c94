"""Configuration of the experts and of what they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.belief_config import BeliefConfig
from lodestar.experts.standing import StandingConfig
from lodestar.grid.config import LookConfig, PaceConfig, TravelConfig, ViewpointConfig
from lodestar.language.config import ReasonerConfig, ViewReasonerConfig
from lodestar.memory.config import FrontierSnapshotConfig
from lodestar.query.config import QueryConfig


@dataclass(frozen=True)
class ReachConfig:
    """Clearances of preferred and of possible paths, and the robot's pace on them."""

    # metres of clearance of a preferred path; chosen: a Go2 rarely gets caught, and doors of 0.9 m leave as much
    ease: float = 0.32
    travel: TravelConfig = field(default_factory=TravelConfig)  # of a path that is possible at all
    pace: PaceConfig = field(default_factory=PaceConfig)  # of the seconds that a goal takes


@dataclass(frozen=True)
class ApproachConfig:
    """Choice of a place on the way to an object that cannot be faced yet."""

    gain: float = 0.75  # metres by which a place must be nearer to the object than the robot is; chosen
    clearance: float = 0.35  # metres of a place from obstacles; chosen
    ignore_last: float = 0.8  # metres before the object in which occupied cells may be its furniture; chosen
    excluded_radius: float = 0.35  # metres around excluded goals within which nothing is proposed; chosen
    candidates: int = 400  # places nearest to the object whose line of sight is checked; chosen
    # metres before the object, along the line of sight to it, within which a place to stand is searched; chosen
    front: float = 2.0
    # metres above the floor of an object's lowest point; below it, a viewpoint past an obstacle may lie behind a
    # wall; chosen
    stands_below: float = 0.4
    # metres by which the path from a viewpoint to the front may exceed the straight line; chosen: a path around
    # furniture is shorter than that, a path around a wall is longer
    detour: float = 0.75
    # share of a raised object's height that must be visible past the edge of its support; chosen
    shows: float = 0.1
    # metres: if the side that was seen does not show that share, another side of the support is used. The path to it
    # must stay this near to the support and be longer by no more than the support's length and width; chosen
    beside: float = 1.2
    roomy: float = 0.40  # metres of clearance of a place on the way to the front; chosen


@dataclass(frozen=True)
class AnnotationConfig:
    """Grid of the marks and size of the annotated picture."""

    rows: int = 4  # of the grid over the image; chosen
    columns: int = 6  # of the grid over the image; chosen
    # RoboAtlas IV-F prunes cells that are too close or out of the interaction range
    near: float = 0.8  # metres, least depth of a marked point; chosen
    far: float = 5.0  # metres, largest depth of a marked point; chosen
    highest: float = 2.0  # metres above the floor of a mark; chosen: keeps marks off ceilings
    window: int = 2  # pixels, half side of the square whose median depth is used; chosen
    side: int = 768  # pixels of the longer side of the picture for the model; chosen


@dataclass(frozen=True)
class DetectionScoreConfig:
    """Confidence of a detection whose relations are violated or not known yet."""

    promising_confidence: float = 0.5  # factor of a promising semantic score in its confidence; chosen
    # the same factor if the task describes the object's look; chosen: an object of that kind and look is mostly the
    # target
    described_confidence: float = 0.65
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})


@dataclass(frozen=True)
class LiftConfig:
    """Selection of the depth pixels that form a detection's box."""

    min_depth: float = 0.15  # metres; chosen
    max_depth: float = 8.0  # metres; chosen
    min_pixels: int = 20  # with valid depth in a mask; chosen
    max_pixels: int = 400  # of a mask that are lifted; chosen
    spread: float = 0.6  # metres of depth from the median above which a pixel is not of the object; chosen
    # share of the points cut off at either end of each axis; chosen: masks bleed over edges
    trim: float = 0.05


@dataclass(frozen=True)
class TurnConfig:
    """Limits on turns at one place: below them a turn shows nothing new."""

    horizon: int = 3  # turns in a row at one place (RoboAtlas IV-F, H = 3)
    place: float = 2.0  # metres within which two views are at the same place; chosen
    looked_angle: float = math.radians(40.0)  # radians within which a heading counts as looked along; chosen
    made_angle: float = math.radians(15.0)  # radians within which a proposed turn counts as made; chosen
    memory: int = 500  # views that are remembered; chosen


@dataclass(frozen=True)
class GlimpseConfig:
    """Identity of glimpses and how they are refuted."""

    # metres between a detection and the box of an object of its kind within which they are the same object; chosen
    same_place: float = 0.5
    memory: int = 200  # glimpses that are kept; chosen
    # frames that show the place but no object of the kind, after which a glimpse counts as a false detection; chosen
    refuted: int = 4
    # Conditions on such a frame; all chosen:
    near: float = 4.0  # metres, the camera's largest distance
    slack: float = 0.3  # metres by which the measured depth may fall short of the place's
    margin: float = 0.08  # share of the image at its edge that does not count
    tried: int = 3  # given-up goals for another look, after which a glimpse is not proposed again; chosen
    same_goal: float = 0.25  # metres within which two goals are the same; chosen


@dataclass(frozen=True)
class RecallConfig:
    """Choice of glimpses to return to."""

    alike: float = 0.5  # category score, 0..1, from which a glimpse is scored by the query; chosen
    share: float = 0.9  # factor of the glimpse's score in the proposal's confidence; chosen
    top_n: int = 3  # candidates for which a goal is searched, best first; chosen
    glimpses: GlimpseConfig = field(default_factory=GlimpseConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    approach: ApproachConfig = field(default_factory=ApproachConfig, metadata={"shared": "approach"})


@dataclass(frozen=True)
class DirectionConfig:
    """Directions in view that are worth going to: open depth, with unknown floor behind it."""

    least: float = (
        0.1  # chance that the target is behind an open direction, from which it is gone to; LikelyConfig
    )
    sectors: int = 7  # of the image's width; chosen: about 12 degrees each
    rows: tuple[float, float] = (
        0.35,
        0.65,
    )  # share of the image's height in which depth is read; chosen: the horizon
    quantile: float = (
        0.8  # of the depths of a sector, which is its depth; chosen: a door frame is part of a sector
    )
    measured: float = 0.2  # least share of a sector's pixels with depth; chosen: half of what floor fills
    farthest: float = 0.98  # quantile of these that a pixel without depth counts as; chosen: not a stray one
    open_depth: float = (
        3.0  # metres of depth from which a sector is open; chosen: more than a step into a room
    )
    beyond: float = 3.0  # metres behind that depth in which floor counts; LikelyConfig.behind
    unknown_share: float = 0.33  # of an unknown cell that is floor; StopConfig
    rest: float = 15.0  # m^2 of floor that the map does not show yet; StopConfig.beyond
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})


@dataclass(frozen=True)
class OfferConfig:
    """Pictures of frontiers and of the memory that a model is offered with the view (SnapMem 3.3)."""

    # at most, about 1,000 tokens each; 0 = none; they go to the model of `reasoner` alone; chosen
    pictures: int = 6
    memories: int = (
        2  # of these, of the memory; chosen: SnapMem keeps 3 to 5 of all, of which ours has the entities
    )
    confidence: float = (
        0.35  # of a goal that is chosen by its picture, 0..1; chosen: above a turn's, below a thing's
    )
    been: float = 0.7  # metres from its goal at which a picture has been gone to; chosen
    same_goal: float = 0.35  # metres within which a goal is the same as an excluded one; StopConfig
    same_angle: float = math.radians(40.0)  # radians likewise; StopConfig

    def __post_init__(self) -> None:
        if not 0 <= self.memories <= self.pictures <= 12:
            raise ValueError("pictures must be from 0 to 12, and memories no more than that")


@dataclass(frozen=True)
class EgocentricConfig:
    """Parameters of the egocentric expert."""

    max_age: float = 2.0  # seconds after which a view is no longer the current one; chosen
    # metres between a detection and an entity's box within which they are the same object; chosen
    same_place: float = 0.2
    # confidence of a turn towards no open space, 0..1; full openness adds as much again; chosen
    turn_confidence: float = 0.1
    # chance that such a turn shows the target, likewise; chosen: a frontier's turn on the spot shows as much
    turn_chance: float = 0.02
    go_from: float = (
        0.2  # score of a mark, 0..1, from which a reasoner's choice to go there is followed; chosen
    )
    # factor of the confidence while the path up to an object is not known yet; chosen
    afar_share: float = 0.9
    still_distance: float = (
        0.5  # metres within which a turn chosen for an earlier view is still valid; chosen
    )
    still_angle: float = math.radians(20.0)  # radians likewise; chosen
    open_depth: float = 5.0  # metres of depth that count as fully open; chosen
    lifting: LiftConfig = field(default_factory=LiftConfig)
    annotation: AnnotationConfig = field(default_factory=AnnotationConfig)
    approach: ApproachConfig = field(default_factory=ApproachConfig, metadata={"shared": "approach"})
    worth: DetectionScoreConfig = field(default_factory=DetectionScoreConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    turning: TurnConfig = field(default_factory=TurnConfig)
    standing: StandingConfig = field(default_factory=StandingConfig)
    offers: OfferConfig = field(default_factory=OfferConfig)
    directions: DirectionConfig = field(default_factory=DirectionConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})


@dataclass(frozen=True)
class SurfaceConfig:
    """Selects the tops of known objects that are searched for objects standing on them."""

    lowest: float = 0.3  # metres above the floor of a top; chosen: the floor's band covers lower ones
    highest: float = 2.0  # metres above the floor of a top; chosen
    least_side: float = 0.25  # metres in plan of the shorter side; chosen
    stands: float = 0.2  # metres that an object on a top is taken to rise above the top's edge; chosen


@dataclass(frozen=True)
class FrontierTrackerConfig:
    """Division of frontiers into pieces and identity of pieces."""

    tile: float = 2.0  # metres, side of the tiles into which clusters are cut; chosen
    min_cells: int = 8  # of a piece; chosen
    most: int = 100  # pieces, nearest first; chosen
    # radians as seen from the robot above which a piece is split into two (SnapMem App. 8)
    split_angle: float = math.radians(150.0)
    same_distance: float = 1.0  # metres within which a piece without overlap keeps its identity; chosen
    beside: float = 2.0  # metres to the nearest reachable cell above which a piece is unreachable; chosen
    snapshots: FrontierSnapshotConfig = field(default_factory=FrontierSnapshotConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class StopConfig:
    """Candidates for viewpoints, of which the one with the greatest gain per second is chosen."""

    # metres of clearance of a viewpoint; chosen: the footprint fits at every heading that counts
    clearance: float = 0.36
    narrow_clearance: float = 0.30  # metres, for a piece of frontier without such a viewpoint; chosen
    spacing: float = 0.5  # metres, of the lattice of candidates; chosen
    candidates: int = 300  # of the lattice; chosen
    standoff: float = 2.0  # metres from a piece of frontier of further candidates; chosen
    glance: float = 4.0  # metres from which a further candidate may see a piece of frontier; chosen
    depth: float = 6.0  # metres that a view is expected to reach into the unknown; chosen
    ranked: int = 24  # viewpoints whose headings are compared, by the gain of all headings per second; chosen
    keep: float = 0.1  # share by which another viewpoint must be better to replace the last goal; chosen
    # weight of an unknown cell, where a free cell that was not looked at counts 1; measured
    # (docs/measurements/gain.md): the share of the unknown area in view that is floor and comes into view
    unknown_share: float = 0.33
    beyond: float = 15.0  # m^2, weight of the floor that the map does not show yet; chosen: a room
    samples: int = 3000  # blocks that represent the unseen cells, approximately; chosen
    same_goal_distance: float = 0.35  # metres within which a goal is the same as an excluded one; chosen
    same_goal_angle: float = math.radians(40.0)  # radians likewise; chosen


@dataclass(frozen=True)
class FrontierConfig:
    """Parameters of the frontier expert."""

    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    # metres from which a search looks again, one per pass, when little is left at the range of `look_limits`: from near
    # enough for small objects; chosen
    near_looks: tuple[float, ...] = (2.5, 1.5)
    fov: float = math.radians(80.0)  # radians, horizontal, of a camera before its first view; chosen
    gain_range: float = 4.5  # metres of the sensor footprint S(c), RoboAtlas eq. 15; chosen
    # m^2 that a goal must show; the next value is used if no goal reaches the one before. The last goal is kept while
    # it shows half as much and, where the next one is more than twice as far away, while it shows the last value;
    # chosen
    min_gains: tuple[float, ...] = (2.0, 0.5)
    # m^2, further value of a search that found nothing; chosen: objects may stand behind furniture
    corner_gain: float = 0.15
    # m^2 per metre of path in the utility (RoboAtlas eq. 16) that selects a frontier's published viewpoint; chosen
    alpha: float = 3.0
    # metres after which a pass ends if they showed at most `barren_area`; chosen: the remaining gains are then
    # predicted from afar and vanish from nearby
    barren_way: float = 20.0
    barren_area: float = 1.0  # m^2; chosen
    gain_scale: float = 5.0  # m^2 at which the confidence is 0.63; chosen
    at_charger: float = 0.5  # metres from the charger within which the robot counts as back; chosen
    surfaces: SurfaceConfig = field(default_factory=SurfaceConfig)
    stops: StopConfig = field(default_factory=StopConfig)
    pieces: FrontierTrackerConfig = field(default_factory=FrontierTrackerConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})
    # limits of a cell's weight by the belief in the choice of viewpoints; measured (docs/measurements/room-belief.md):
    # unlimited, leftovers beside likely things draw the robot back before it opens new rooms
    weights: tuple[float, float] = (0.4, 2.5)

    @property
    def look_ranges(self) -> tuple[float, ...]:
        """Return the metres from which a cell counts as looked at, one per pass: first from afar."""
        return (self.look_limits.range, *self.near_looks)


@dataclass(frozen=True)
class LikelyConfig:
    """Looks into rooms in which an unseen target is likely."""

    # chance that a look shows the target, from which it is proposed; chosen: with 0.03 the robot went 20 m for 0.04
    least: float = 0.1
    # factor by which the target is likelier per area in a room than in all that was not looked at; chosen
    lift: float = 1.2
    behind: float = 3.0  # metres behind known floor to which unknown cells may be floor; chosen: a small room
    beside: float = 0.5  # metres from a room within which unknown cells belong to it; chosen
    min_gain: float = 0.5  # m^2 that a look must show; FrontierConfig.min_gains
    top_n: int = 3  # rooms that are tried, likeliest first; chosen
    fov: float = math.radians(80.0)  # radians, horizontal, of a camera before its first view; FrontierConfig
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    stops: StopConfig = field(default_factory=StopConfig)
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})


@dataclass(frozen=True)
class LastSeenGoalConfig:
    """Choice of a place where the memory last saw what is looked for."""

    alike: float = (
        0.5  # category score, 0..1, from which a remembered thing is scored by the query; RecallConfig
    )
    share: float = 0.9  # factor of its score in the confidence; RecallConfig
    unknown_age: float = (
        0.5  # chance that it is still there if nobody knows for how long; chosen: one half-life
    )
    # confidence below which a place is left to the search; chosen: about three half-lives of a thing that fits
    least: float = 0.1
    promising_confidence: float = 0.55  # factor of a promising semantic score; SemanticMapConfig
    distance_weight: float = 0.01  # confidence per metre of straight distance; SemanticMapConfig
    top_n: int = 3  # places for which a goal is searched, best first; chosen
    tried: int = 2  # goals of a place that were given up, after which it is not proposed again; chosen
    same_goal: float = 0.25  # metres within which two goals are the same; GlimpseConfig
    clock_error: float = 1.0  # seconds by which a sight may lie ahead of the question; chosen
    priors_file: str = field(default="", metadata={"shared": "priors_file"})
    approach: ApproachConfig = field(default_factory=ApproachConfig, metadata={"shared": "approach"})
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})


@dataclass(frozen=True)
class SemanticMapConfig:
    """Choice of the remembered entity that fits the task."""

    top_n: int = 5  # candidates that are tried, best first (RoboAtlas eq. 20); chosen
    # score per metre of path; chosen: of two equal matches the nearer one is preferred
    distance_weight: float = 0.01
    promising_confidence: float = 0.55  # factor of the confidence of a promising entity's proposal; chosen
    surroundings: float = (
        1.5  # metres, half side of the square around such an entity that must be partly unknown; chosen
    )
    unknown_share: float = 0.08  # least unknown share of that square; chosen
    prefilter_from: int = 400  # entities from which RoboAtlas eq. 18 reduces their number; chosen
    target_similarity: float = 0.3  # delta_T of RoboAtlas eq. 18, a cosine; chosen
    neighbor_similarity: float = 0.3  # delta_N of RoboAtlas eq. 18, a cosine; chosen
    # metres between footprint and box within which the best saved view of the entity is the goal; 0 = never (DESIGN
    # section 3)
    saved_distance: float = 0.85
    # a language model's confidence from which an entity is accepted that the query alone rejects; chosen
    sure: float = 0.6
    # a language model's confidence below which an entity is rejected that the query alone accepts; chosen
    unsure: float = 0.2
    approach: ApproachConfig = field(default_factory=ApproachConfig, metadata={"shared": "approach"})
    likely: LikelyConfig = field(default_factory=LikelyConfig)
    last_seen: LastSeenGoalConfig = field(default_factory=LastSeenGoalConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})


@dataclass(frozen=True)
class FrontierExpertConfig:
    """The frontier expert and the rate of its views."""

    view_period: float = 0.25  # s of stamps between views; chosen
    expectation: bool = True  # area counts more where the target is likely
    expert: FrontierConfig = field(default_factory=FrontierConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class SemanticMapExpertConfig:
    """The semantic-map expert, its reasoner, and the rate of its views."""

    view_period: float = 0.5  # s of stamps between views; chosen: half of the frontier expert's
    reasoner: ReasonerConfig = field(default_factory=ReasonerConfig)
    expert: SemanticMapConfig = field(default_factory=SemanticMapConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class EgoVlmExpertConfig:
    """The egocentric expert, its reasoner, and the rate of its views."""

    annotate: bool = False  # publish the view with its marks
    view_period: float = 0.25  # s of stamps between views; chosen
    description_period: float = 1.0  # s of stamps between descriptions of the view; chosen
    reasoner: ViewReasonerConfig = field(default_factory=ViewReasonerConfig)
    expert: EgocentricConfig = field(default_factory=EgocentricConfig, metadata={"prefix": ""})
