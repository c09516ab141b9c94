"""Parameters that several parts use; each is defined once, here.

A field of a part's configuration that is marked with ``metadata={"shared": NAME}`` takes its value from the field
NAME of `SharedConfig` ("endpoint.model": a nested field). It is no parameter of its part: a profile sets it once, as
``shared.NAME``.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any, TypeVar

from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.config import BeliefConfig, ReachConfig
from lodestar.floors.config import FloorsConfig
from lodestar.geometry.camera import DEPTH_RANGE
from lodestar.grid.config import (
    VIEWPOINT_FAR_DISTANCE,
    VIEWPOINT_HIGH_DISTANCE,
    VIEWPOINT_MAX_DISTANCE,
    ComfortConfig,
    FenceConfig,
    Footprint,
    LookConfig,
    SuccessConfig,
    ViewpointConfig,
)
from lodestar.language.directive import DEFAULT_KEEP_AWAY
from lodestar.models.config import EndpointConfig
from lodestar.perception.config import DescriberConfig, MoverConfig, TransportConfig
from lodestar.perception.picture_config import PicturesConfig
from lodestar.query.config import QueryConfig
from lodestar.scene.config import SceneConfig
from lodestar.worldmodel.config import ValidationConfig

MARK = "shared"  # key of a field's metadata; its value names the field of SharedConfig

Config = TypeVar("Config")


class SharedConflict(ValueError):
    """A part sets a shared parameter to another value; the message names both places."""


@dataclass(frozen=True)
class SharedConfig:
    """Parameters that several parts of the robot read. The defaults are those of each field's own type."""

    body: Footprint = field(default_factory=Footprint)  # the robot's outline in plan
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig)  # poses that face an object
    query: QueryConfig = field(default_factory=QueryConfig)  # scoring and acceptance of targets
    reach: ReachConfig = field(default_factory=ReachConfig)  # clearances of the robot's paths
    success: SuccessConfig = field(default_factory=SuccessConfig)  # when an object counts as found
    looks: LookConfig = field(default_factory=LookConfig)  # when a place counts as looked at
    belief: BeliefConfig = field(default_factory=BeliefConfig)  # where an unseen target is likely
    depth_range: float = DEPTH_RANGE  # m, largest depth that is used; DESIGN section 4
    region_reach: float = SceneConfig.region_reach  # m within which a place belongs to its nearest room
    # m around forbidden objects without a stated distance; chosen
    keep_out_distance: float = DEFAULT_KEEP_AWAY
    fence: FenceConfig = field(default_factory=FenceConfig)  # polygon that the robot must not leave
    movers: MoverConfig = field(default_factory=MoverConfig)  # people and animals, kept out of the map
    comfort: ComfortConfig = field(default_factory=ComfortConfig)  # distance that the robot keeps from them
    # limits for validating traces before they are acted on
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    floors: FloorsConfig = field(default_factory=FloorsConfig)  # whether stairs and lifts may be taken
    # topic of SLAM Toolbox's pose graph (a MarkerArray), which every follower of map <- odom reads; "" = none
    pose_graph: str = "slam_toolbox/graph_visualization"
    transport: TransportConfig = field(default_factory=TransportConfig)  # form of the camera's images
    skills_file: str = ""  # YAML file with a user's skills, beside those of `skills.yaml`; "" = none
    # file of counts of observed changes, which `python -m lodestar_ros.changes --learn` writes; "" = the table alone
    priors_file: str = ""
    # whether a language model parses directives and queries, ranks candidates, answers and advises;
    # offline parts replace it if it fails
    language_model: bool = False
    # whether a vision model judges views and captions objects and memories, likewise with offline parts
    vision_model: bool = False
    endpoint: EndpointConfig = field(default_factory=EndpointConfig)  # of the language model
    # of the vision model; without a server or key here, they and an unset model are those of `endpoint`
    vision_endpoint: EndpointConfig = field(default_factory=EndpointConfig)
    appearance: DescriberConfig = field(default_factory=DescriberConfig)  # of segments
    pictures: PicturesConfig = field(default_factory=PicturesConfig)  # of a target, sent by a user
    map_id: int = LoopConfig.map_id  # of everything that is recorded or saved

    def __post_init__(self) -> None:
        far = max(VIEWPOINT_MAX_DISTANCE, VIEWPOINT_FAR_DISTANCE, VIEWPOINT_HIGH_DISTANCE)
        if far > self.success.distance:
            raise ValueError(
                f"shared.viewpoints faces things from {far} m, which is beyond shared.success.distance, "
                f"{self.success.distance} m: nothing faced from there would count as found"
            )
        if self.pictures.adapter == "model" and not self.vision_model:
            raise ValueError("shared.pictures.adapter model needs a model: set shared.vision_model to on")
        sees = self.vision_endpoint.model
        # at the same server
        if replace(self.vision_endpoint, model=EndpointConfig.model) == EndpointConfig():
            own = replace(self.endpoint, model=sees) if sees != EndpointConfig.model else self.endpoint
            object.__setattr__(self, "vision_endpoint", own)
        for item in fields(self):
            value = getattr(self, item.name)
            if is_dataclass(value):
                object.__setattr__(self, item.name, with_shared(value, self, f"shared.{item.name}"))


def is_shared(item: Field[Any]) -> bool:
    """Return whether a field of a configuration takes its value from SharedConfig."""
    return MARK in item.metadata


def with_shared(config: Config, shared: SharedConfig, place: str = "") -> Config:
    """Return the configuration with every marked field, at any depth, set to its shared value.

    place: name of the configuration in messages. Raises SharedConflict if a marked field was set to a value
    that is neither its default nor the shared value.
    """
    changes: dict[str, Any] = {}
    for item in fields(config):  # type: ignore[arg-type]
        value, name = getattr(config, item.name), f"{place}.{item.name}".lstrip(".")
        if is_shared(item):
            home = attrgetter(item.metadata[MARK])(shared)
            if value != home:
                _check_untouched(item, value, home, name)
                changes[item.name] = home
        elif is_dataclass(value) and not isinstance(value, type):
            filled = with_shared(value, shared, name)
            if filled is not value:
                changes[item.name] = filled
    return replace(config, **changes) if changes else config  # type: ignore[type-var]


def _check_untouched(item: Field[Any], value: Any, home: Any, name: str) -> None:
    default = item.default if item.default_factory is MISSING else item.default_factory()
    if value == default:
        return
    where, wanted = _difference(value, home)
    dotted = f".{where}" if where else ""
    raise SharedConflict(
        f"{name}{dotted} is set, and {MARK}.{item.metadata[MARK]}{dotted} is {wanted!r}: "
        f"set only {MARK}.{item.metadata[MARK]}{dotted}"
    )


def _difference(value: Any, home: Any) -> tuple[str, Any]:
    """Return the dotted name of the first field that differs, and its value in `home`."""
    if not is_dataclass(value):
        return "", home
    for item in fields(value):
        mine, theirs = getattr(value, item.name), getattr(home, item.name)
        if mine != theirs:
            deeper, wanted = _difference(mine, theirs)
            return f"{item.name}.{deeper}".rstrip("."), wanted
    return "", home
