"""Configuration of the experts and their parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.belief_config import BeliefConfig
from lodestar.grid.config import LookConfig, TravelConfig, ViewpointConfig
from lodestar.language.config import ReasonerConfig, ViewReasonerConfig
from lodestar.query.config import QueryConfig

STOP_DEPTH = 6.0  # metres that a view is expected to reach into the unknown; chosen
STOP_BEYOND = 15.0  # m^2, weight of the floor that the map does not show yet; chosen: a room


@dataclass(frozen=True)
class ReachConfig:
    """Clearances and costs of the paths that the robot can take."""

    travel: TravelConfig = field(default_factory=TravelConfig)  # of a path that is possible at all


@dataclass(frozen=True)
class DirectionConfig:
    """Limits and weights for goals along open directions in view: open depth with unknown floor behind it."""

    # least probability that the target is behind an open direction for a proposal; as in LikelyConfig
    least: float = 0.1
    unknown_share: float = 0.33  # share of unknown cells that are floor; as in StopConfig
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})


@dataclass(frozen=True)
class OfferConfig:
    """Number of pictures of frontiers and of the memory that a vision model may choose from beside the view
    (SnapMem 3.3).
    """

    # number of pictures, at most; about 1,000 tokens each; 0 = none; only for the model of `reasoner`; chosen
    pictures: int = 6

    def __post_init__(self) -> None:
        if not 0 <= self.pictures <= 12:
            raise ValueError("pictures must be from 0 to 12")


@dataclass(frozen=True)
class EgocentricConfig:
    """Parameters of the egocentric expert."""

    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})
    offers: OfferConfig = field(default_factory=OfferConfig)
    directions: DirectionConfig = field(default_factory=DirectionConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})


@dataclass(frozen=True)
class FrontierTrackerConfig:
    """Size of the pieces into which frontiers are divided."""

    tile: float = 2.0  # metres, side of the tiles into which clusters are cut; chosen


@dataclass(frozen=True)
class StopConfig:
    """Weight of unknown cells in the gain of a viewpoint; the viewpoint with the greatest gain per second is
    chosen.
    """

    # weight of an unknown cell, where a free cell that was not looked at counts 1; measured
    # in nine buildings: the share of the unknown area in view that is floor and comes into view
    unknown_share: float = 0.33


@dataclass(frozen=True)
class FrontierConfig:
    """Parameters of the frontier expert."""

    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    fov: float = math.radians(80.0)  # radians, horizontal, of a camera before its first view; chosen
    gain_range: float = 4.5  # metres of the sensor footprint S(c), RoboAtlas eq. 15; chosen
    # m^2 per metre of path in the utility (RoboAtlas eq. 16) that selects a frontier's published viewpoint; chosen
    alpha: float = 3.0
    stops: StopConfig = field(default_factory=StopConfig)
    pieces: FrontierTrackerConfig = field(default_factory=FrontierTrackerConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})


@dataclass(frozen=True)
class LikelyConfig:
    """Limits and weights for going to see a room in which an unseen target is likely."""

    # least probability that a look shows the target; chosen: with 0.03 the robot drove 20 m for 0.04
    least: float = 0.1
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    stops: StopConfig = field(default_factory=StopConfig)
    belief: BeliefConfig = field(default_factory=BeliefConfig, metadata={"shared": "belief"})


@dataclass(frozen=True)
class LastSeenGoalConfig:
    """Parameters for choosing a place where the memory last saw a matching object."""

    priors_file: str = field(default="", metadata={"shared": "priors_file"})
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})


@dataclass(frozen=True)
class SemanticMapConfig:
    """Parameters for choosing the entity of the map that fits the task."""

    # least probability that a neighbour beside a promising entity was overlooked (SEMANTIC_MAP_SURROUNDINGS); chosen
    overlooked: float = 0.15
    prefilter_from: int = 400  # entities from which RoboAtlas eq. 18 reduces their number; chosen
    likely: LikelyConfig = field(default_factory=LikelyConfig)
    last_seen: LastSeenGoalConfig = field(default_factory=LastSeenGoalConfig)
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})


@dataclass(frozen=True)
class FrontierExpertConfig:
    """Parameters of the frontier expert's node, with the period at which it takes camera views."""

    view_period: float = 0.25  # s of stamps between views; chosen
    expectation: bool = True  # area counts more where the target is likely
    expert: FrontierConfig = field(default_factory=FrontierConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class SemanticMapExpertConfig:
    """Parameters of the semantic-map expert's node: expert, reasoner, and the period at which it takes camera
    views.
    """

    view_period: float = 0.5  # s of stamps between views; chosen: half of the frontier expert's
    reasoner: ReasonerConfig = field(default_factory=ReasonerConfig)
    expert: SemanticMapConfig = field(default_factory=SemanticMapConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class EgoVlmExpertConfig:
    """Parameters of the egocentric expert's node: expert, reasoner, and the period at which it takes camera
    views.
    """

    annotate: bool = False  # publish the view with its marks
    view_period: float = 0.25  # s of stamps between views; chosen
    description_period: float = 1.0  # s of stamps between descriptions of the view; chosen
    reasoner: ViewReasonerConfig = field(default_factory=ViewReasonerConfig)
    expert: EgocentricConfig = field(default_factory=EgocentricConfig, metadata={"prefix": ""})
