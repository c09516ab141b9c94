"""Defaults of the scene dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SceneConfig:
    """Limits of the scene dictionary: archived entities, size of deltas, reach of regions, life of movers."""

    # of what moves; see SharedConfig
    priors_file: str = field(default="", metadata={"shared": "priors_file"})
    eyes: str = field(default="", metadata={"shared": "looks.eyes"})  # see LookConfig
    max_archived: int = 10_000  # entities; the first archived are pruned first; chosen
    max_delta: int = 256  # entities per delta, the others follow in the next ones; chosen
    # metres to a region's cell, for entities on unassigned cells; chosen
    region_reach: float = field(default=1.0, metadata={"shared": "region_reach"})
    # s without a sight after which a person or an animal is no entity any more
    mover_life: float = field(default=5.0, metadata={"shared": "movers.life"})
