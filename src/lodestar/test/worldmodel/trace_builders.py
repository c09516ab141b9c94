"""Small world for traces, and traces about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import FREE, OccupancyGrid2D
from lodestar.scene.records import Entity, Region
from lodestar.worldmodel.records import Action, Expectation, Phase, Skill, Trace, entity_name


def box(identity, centre, size, spread=0.01, region=0):
    centre, half = np.array(centre, float), np.array(size, float) / 2
    return Entity(
        identity, "thing", "", centre, np.eye(3) * spread, centre - half, centre + half, region_id=region
    )


@dataclass
class Surroundings:
    """World of boxes in an empty hall of 20 by 20 m with a corner at the origin."""

    entities: dict[int, Entity] = field(default_factory=dict)
    regions: dict[int, Region] = field(default_factory=dict)
    grid: OccupancyGrid2D | None = None
    pose: np.ndarray | None = field(default_factory=lambda: np.array([2.0, 2.0, 0.0]))
    energy: EnergyBudget = field(default_factory=EnergyBudget)
    charger: np.ndarray | None = None
    map_id: int = 1

    def record(self, entity_id):
        return self.entities.get(entity_id)

    def region(self, region_id):
        return self.regions.get(region_id)


def furnished():
    """Return a table (1), a cup on it (2), a chair beside it (3) and a far shelf (4)."""
    things = [
        box(1, (5, 5, 0.4), (1.2, 0.8, 0.8), region=3),
        box(2, (5.2, 5, 0.86), (0.1, 0.1, 0.12), region=3),
        box(3, (6.2, 5, 0.5), (0.5, 0.5, 1.0), region=3),
        box(4, (15, 15, 1.0), (1.0, 0.4, 2.0)),
    ]
    cells = np.full((200, 200), FREE, np.int8)
    cells[:2] = cells[-2:] = 100
    region = Region(3, "kitchen", 0.9, 12.0, np.array([5.0, 5.0]))
    return Surroundings({one.id: one for one in things}, {3: region}, OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))


def trace_to(entity_id=2, goal=(8.0, 8.0, 0.0), **changes):
    """Return a trace of going to an entity."""
    name = entity_name(entity_id)
    values = {
        "id": "q-t1", "epoch": 1, "stamp": 10.0, "proposer": "semantic_map",
        "action": Action(Skill.GO_TO, (name,), np.array(goal)),
        "expectation": Expectation(Phase.AT, name, visible=(entity_id,), by=45.0),
        "confidence": 0.8, "reason": "it fits best", "fallback": "take the next candidate",
        "evidence_entities": (entity_id,),
    }  # fmt: skip
    return Trace(**{**values, **changes})
