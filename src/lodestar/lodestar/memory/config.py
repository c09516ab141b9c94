"""Configuration of the memory, one frozen dataclass per part."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.grid.config import LookConfig

BACKENDS = ("sqlite", "milvus_lite", "milvus")


@dataclass(frozen=True)
class StoreConfig:
    """Location, durability, limits and retention of the store (ADR 0063).

    backend: engine of searches by text. "sqlite" = a matrix of the database's vectors in memory;
    "milvus_lite" = a Milvus Lite beside the database; "milvus" = the server or cluster at `uri`, which
    several robots may share. The database keeps everything in each case.
    """

    folder: str = ""  # of the database and of Milvus Lite; "" = memory/ in this user's state folder
    # engine of searches by text: sqlite, milvus_lite or milvus; measured (ADR 0063)
    backend: str = "sqlite"
    uri: str = ""  # of a Milvus server or cluster, as http://host:19530
    token: str = ""  # user:password or API key of the server; "" = none
    robot: str = "robot"  # partition key; every robot that shares a server needs its own
    dimension: int = 384  # of a vector; all-MiniLM-L6-v2

    # seconds of real time between writes to the disk; chosen: a power cut loses the data of this time at most
    sync_interval: float = 1.0
    flush_interval: float = 1.0  # seconds of real time between turns of the worker; chosen
    retry: float = 5.0  # seconds of real time before Milvus or the embedder is tried again; chosen

    full_time: float = 86400.0  # seconds for which everything is kept (issue 16)
    long_time: float = 30 * 86400.0  # seconds for which operator's words and events are kept; chosen
    max_records: int = 100_000  # most memories kept; beyond it old ones are thinned (issue 16)

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend is {self.backend!r}; write one of {', '.join(BACKENDS)}")
        if bool(self.uri) != (self.backend == "milvus"):
            raise ValueError(
                "the backend milvus needs a uri, as http://host:19530, and no other backend has one"
            )
        if not self.robot or len(self.robot) > 64:
            raise ValueError("robot needs a name of 1 to 64 characters")
        if min(self.dimension, self.max_records) < 1:
            raise ValueError("dimension and max_records must be at least 1")
        if min(self.sync_interval, self.flush_interval, self.retry) <= 0.0:
            raise ValueError("intervals must be above 0")


@dataclass(frozen=True)
class EventConfig:
    """Range and field of view within which the camera would have shown an object.

    An object counts as newly appeared only where the camera had looked before in this way.
    """

    # `near` and `near_fov`: reach of a look that would have shown the object
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})


@dataclass(frozen=True)
class LastSeenConfig:
    """Range and field of view within which the camera would show an object at its last known place."""

    # `near` and `near_fov`: reach of a look that would have shown the object
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})


@dataclass(frozen=True)
class BottleneckConfig:
    """Retrieval for a question by the Information Bottleneck (STaR IV-B): limits, caption per cluster."""

    # tau: captions with at least this share of the best score are used; chosen, see the measurements
    threshold: float = 0.6
    # most objects in the captions that are used; those with the lowest scores are left out; bounds the cost
    max_primitives: int = 2_000
    # caption that represents a cluster: the most "relevant" one (eq. 9), or in addition the "first" or "last"
    # that shows its most relevant object. Set per question: "when did you last see" needs the last (STaR III)
    representative: str = "relevant"
