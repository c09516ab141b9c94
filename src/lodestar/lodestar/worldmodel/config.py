"""Numbers of the world model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.models.config import ChatConfig


@dataclass(frozen=True)
class ValidationConfig:
    """Limits of the validation of traces. A belief fails only when it is clearly wrong, because boxes are noisy."""

    chi_square: float = 11.34  # of eq. 9: 3 degrees of freedom at 0.99 (VLM-DEWM B.5 leaves it open; ours)
    near: float = 2.0  # m between boxes, d_near of VLM-DEWM D.2; queries ask for less (ours)
    contact: float = 0.3  # m from a support's top up to a thing on it, epsilon_contact of D.2 (ours)
    slack: float = 0.3  # m by which a box may stick out of what it is on or in (ours)
    max_beliefs: int = 50  # of one trace (ours)
    max_age: float = 30.0  # s between a trace's stamp and its validation (ours)
    gap: float = (
        0.12  # m of clearance without which no way leads through; below the least of `shared.reach` (ours)
    )
    snap: float = 0.5  # m around robot and goal within which a way may begin and end (ours)
    faces_within: float = (
        1.0  # m from the footprint to the target, from which the goal must face it (DESIGN 3)
    )
    max_bearing: float = math.radians(75.0)  # off a target that is faced; success asks for 30 degrees (ours)
    ignore_last: float = 0.8  # m before a target that may be furniture under it, as for viewpoints (ours)
    detour: float = 1.5  # of the straight line, that a way which is not known may be longer (ours)

    def __post_init__(self) -> None:
        if (
            min(self.chi_square, self.near, self.contact, self.slack, self.max_age) <= 0.0
            or self.max_beliefs < 1
        ):
            raise ValueError("the limits of the validation must be above 0")


@dataclass(frozen=True)
class WayConfig:
    """Closed ways: how they lie on the grid, and what opens them."""

    thickness: float = 0.2  # m of the wall that stands for one on the grid; chosen: two cells
    around_robot: float = 0.25  # m around the robot's centre that stay as they are; chosen: half its length
    # ways that end by themselves, the oldest goes first; and as many others, then none more; chosen
    most: int = 100
    same_place: float = 0.5  # m between two ways that are the same one; chosen: half a door
    beside: float = 1.0  # m from the robot within which the grid does not say that a way is open; chosen
    shown_share: float = 0.8  # of its cells, 0..1, that are occupied while it is closed; chosen
    open_share: float = 0.5  # of its cells, 0..1, below which the grid says that it is open; chosen
    look_reach: float = 6.0  # m from which rays tell; chosen: beyond, they lie too far apart
    lowest: float = -0.3  # m from the sensor's height; the lowest crossing that counts; chosen: no sill
    highest: float = 0.5  # m from the sensor's height; the highest one; chosen: below a lintel
    beyond: float = 0.3  # m that a ray must go on behind it; chosen: the thickness of a door and noise
    bin: float = 0.1  # m of the way that one ray clears; chosen
    clear_share: float = 0.8  # of its bins, 0..1, that rays of one turn must cross; chosen: a body's width
    clear_looks: int = 2  # that open it; chosen: one may be a reflection
    look_interval: float = 0.2  # s between two looks that count; chosen

    def __post_init__(self) -> None:
        lengths = (self.thickness, self.same_place, self.look_reach, self.beyond, self.bin)
        if min(lengths) <= 0.0 or min(self.most, self.clear_looks) < 1 or self.lowest >= self.highest:
            raise ValueError("lengths and counts of closed ways must be above 0, and lowest below highest")


@dataclass(frozen=True)
class AdviserConfig:
    """Advice on failures that the diagnosis cannot tell."""

    asks_model: bool = field(default=False, metadata={"shared": "language_model"})
    chat: ChatConfig = field(default_factory=ChatConfig)  # of the model
    patience: float = 8.0  # s of the loop's time that the robot stands for an answer; chosen
    least: float = 0.05  # probability of a cause, 0..1, from which its recovery may be chosen; chosen
    things: int = 12  # nearest things that are told; chosen
    tokens: int = 900  # of a question (VLM-DEWM C.1 bounds the subgraph; ours)

    def __post_init__(self) -> None:
        if min(self.patience, self.tokens) <= 0 or self.things < 0 or not 0.0 <= self.least <= 1.0:
            raise ValueError(
                "patience and tokens must be above 0, things not below it, and least within 0 and 1"
            )
