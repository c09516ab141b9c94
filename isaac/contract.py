"""Reader of contract.yaml. Runs under Isaac Sim's Python and under any other with PyYAML."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("contract.yaml")
_RELIABILITY = {"reliable": "reliable", "best_effort": "bestEffort"}
_DURABILITY = {"volatile": "volatile", "transient_local": "transientLocal"}


@dataclass(frozen=True)
class Qos:
    """A QoS profile with history keep-last."""

    reliability: str
    durability: str
    depth: int

    def bridge_text(self) -> str:
        """Return the profile as JSON for the input `qosProfile` of the bridge's nodes, which requires floats
        for times.
        """
        return json.dumps(
            {
                "history": "keepLast",
                "depth": self.depth,
                "reliability": _RELIABILITY[self.reliability],
                "durability": _DURABILITY[self.durability],
                "deadline": 0.0,
                "lifespan": 0.0,
                "liveliness": "systemDefault",
                "leaseDuration": 0.0,
            }
        )


@dataclass(frozen=True)
class Topic:
    """One topic of the contract. rate: Hz of simulated time, 0 = once or on an event. frame: "" = none."""

    name: str
    by: str
    type: str
    frame: str
    rate: float
    qos_name: str
    qos: Qos
    encoding: str = ""


@dataclass(frozen=True)
class Placement:
    """A fixed transform: metres, and a quaternion x, y, z, w, of the child in the parent."""

    parent: str
    child: str
    translation: tuple[float, float, float]
    rotation: tuple[float, float, float, float]


@dataclass(frozen=True)
class Contract:
    """The topics and frames that Isaac Sim and Lodestar publish for each other."""

    topics: dict[str, Topic]
    moving: tuple[str, str]  # parent and child of the transform that odometry publishes
    static: tuple[Placement, ...]
    base_height: float  # m, base_link above the ground while standing
    camera: dict[str, float]  # width, height, fx, fy in pixels
    silence: float  # s of real time without a velocity, after which the robot stands
    profiles: dict[str, Qos]

    def of(self, who: str) -> dict[str, Topic]:
        """Return the topics that "isaac" or "lodestar" publishes, by name."""
        return {name: topic for name, topic in self.topics.items() if topic.by == who}


def load(path: Path = FILE) -> Contract:
    """Return the contract. Raises KeyError or TypeError for a missing or unknown field."""
    content = yaml.safe_load(path.read_text())
    profiles = {name: Qos(**fields) for name, fields in content["qos"].items()}
    topics = {}
    for name, fields in content["topics"].items():
        qos_name = fields.pop("qos")
        topics[name] = Topic(name=name, qos_name=qos_name, qos=profiles[qos_name], **fields)
    static = tuple(
        Placement(item["parent"], item["child"], tuple(item["translation"]), tuple(item["rotation"]))
        for item in content["static"]
    )
    moving = (content["moving"]["parent"], content["moving"]["child"])
    return Contract(
        topics,
        moving,
        static,
        float(content["base_height"]),
        content["camera"],
        float(content["silence"]),
        profiles,
    )
