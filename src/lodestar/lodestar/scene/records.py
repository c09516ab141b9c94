"""Records of the scene: entities, views, regions and deltas."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np

from lodestar.mapping.instances.records import Merge
from lodestar.perception.frames import ImageBox


class EntityState(IntEnum):
    """Life-cycle states of an entity (VLM-DEWM B.6)."""

    ACTIVE = 0
    UNCERTAIN = 1
    ARCHIVED = 2


@dataclass(frozen=True)
class View:
    """A camera pose from which an entity was clearly seen. map_from_camera: (4, 4). quality in [0, 1]."""

    stamp: float
    map_from_camera: np.ndarray
    box: ImageBox
    keyframe_id: int = 0
    quality: float = 0.0


@dataclass(frozen=True)
class Embedding:
    """A unit vector, (D,) float32, and the name of the model that computed it."""

    model: str
    vector: np.ndarray


def same_embedding(first: Embedding | None, second: Embedding | None) -> bool:
    """Return whether both are None, or vectors with equal values of one model."""
    if first is None or second is None:
        return first is second
    return first.model == second.model and np.array_equal(first.vector, second.vector)


@dataclass(frozen=True)
class Stated:
    """A relation to another entity that a person stated. predicate: as in query graphs, such as "On"."""

    predicate: str
    other: int
    negated: bool = False


@dataclass(frozen=True)
class Entity:
    """A confirmed object of the scene, in `map`, metres. Captions and labels are untrusted text.

    mean: (3,), covariance: (3, 3), box_min, box_max: (3,). covisible: id -> weight in [0, 1] of entities seen
    together with it; neighbors: id -> weight in [0, 1] of entities near it. front: (3,) unit vector in map,
    direction that its front faces; color: (3,) mean RGB in [0, 1]; None if unknown. stated: relations to
    other entities that people stated.
    """

    id: int
    label: str
    caption: str
    mean: np.ndarray
    covariance: np.ndarray
    box_min: np.ndarray
    box_max: np.ndarray
    attributes: tuple[str, ...] = ()
    embeddings: dict[str, Embedding] = field(default_factory=dict)
    views: tuple[View, ...] = ()
    region_id: int = 0
    occupancy_probability: float = 1.0
    confidence: float = 1.0
    state: EntityState = EntityState.ACTIVE
    is_static: bool = True
    observation_count: int = 0
    first_seen: float = 0.0
    last_seen: float = 0.0
    covisible: dict[int, float] = field(default_factory=dict)
    neighbors: dict[int, float] = field(default_factory=dict)
    map_id: int = 1
    session_id: str = ""
    front: np.ndarray | None = None
    color: np.ndarray | None = None
    stated: tuple[Stated, ...] = ()

    @property
    def eye(self) -> float:
        """Return the height in map, metres, of the camera of the best view; NaN without a view."""
        return float(self.views[0].map_from_camera[2, 3]) if self.views else math.nan


@dataclass(frozen=True)
class SceneDelta:
    """Change of the scene dictionary; see InstanceDelta for revisions."""

    stamp: float
    revision: int
    previous_revision: int
    updated: tuple[Entity, ...] = ()
    merges: tuple[Merge, ...] = ()
    removed: tuple[int, ...] = ()
    map_id: int = 1
    session_id: str = ""


@dataclass(frozen=True)
class Region:
    """A room or a room-like area.

    id: its value in the region mask. plates: untrusted texts in the form returned by `sign_text`.
    """

    id: int
    label: str
    label_weight: float
    area: float
    centroid: np.ndarray
    neighbors: tuple[int, ...] = ()
    named: bool = False  # whether an operator gave the label
    plates: tuple[str, ...] = ()  # texts of the plates beside its doors, the surest first


class Refusal(Enum):
    """Reasons why a request for amendments was refused; the values are the codes of AmendScene."""

    UNKNOWN_ENTITY = 11280
    STALE = 11281  # the entity has changed since `expected_revision`
    BAD_REQUEST = 11282
    UNAVAILABLE = 11289  # the scene's server does not answer; the request may be repeated
