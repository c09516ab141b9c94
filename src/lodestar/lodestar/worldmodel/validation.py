"""Validation of traces in three layers: syntax, semantics, physics (VLM-DEWM D.2)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.query_graph import PREDICATES
from lodestar.scene.records import Entity, Region
from lodestar.worldmodel.belief_measures import measured
from lodestar.worldmodel.config import ValidationConfig
from lodestar.worldmodel.records import ROBOT, Belief, Skill, Trace, TraceError, Verdict, entity_of, region_of

_MOVES = frozenset(
    {Skill.GO_TO, Skill.SEARCH}
)  # whose goal must be free; the way back may start beside a wall
_ARITY = {"Between": 3, "InRegion": 2, "HasAttribute": 1, "IsCategory": 1}  # the others have two arguments
_CLOSE = 1e-6  # tolerance of a confidence that comes as float32


class World(Protocol):
    """Port to the present state of the world. It is read, never copied."""

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid."""
        ...

    def entity(self, entity_id: int) -> Entity | None:
        """Return the entity of this id or into which it was merged, None where it is unknown or archived."""
        ...

    def region(self, region_id: int) -> Region | None:
        """Return the region of this id, None where it is unknown."""
        ...


class TraceValidator:
    """Checks traces against a world. Its time does not grow with the world."""

    def __init__(self, world: World, config: ValidationConfig | None = None) -> None:
        self._world, self._config = world, config or ValidationConfig()

    def check(self, trace: Trace, now: float | None = None) -> Verdict:
        """Return the verdict on a trace. now: stamp in seconds; None = its age does not matter."""
        return self._syntax(trace, now) or self._semantics(trace) or self._physics(trace) or Verdict()

    def _syntax(self, trace: Trace, now: float | None) -> Verdict | None:
        goal = trace.action.goal
        if goal is not None and (np.shape(goal) != (3,) or not np.isfinite(goal).all()):
            return _bad(f"goal {np.asarray(goal).tolist()} is not a pose")
        if not -_CLOSE <= trace.confidence <= 1.0 + _CLOSE:  # NaN too
            return _bad(f"confidence {trace.confidence} does not lie in [0, 1]")
        expected = trace.expectation.beliefs
        if len(trace.beliefs) + len(expected) > self._config.max_beliefs:
            return _bad(f"it has more than {self._config.max_beliefs} beliefs")
        for belief in (*trace.beliefs, *expected):
            if belief.predicate not in PREDICATES:
                return _bad(f"there is no predicate {belief.predicate[:40]!r}", belief)
            if len(belief.arguments) != _ARITY.get(belief.predicate, 2):
                return _bad(f"{belief.predicate} has {len(belief.arguments)} arguments", belief)
        opposite = {(b.predicate, b.arguments, not b.negated) for b in expected}
        for belief in expected:
            if (belief.predicate, belief.arguments, belief.negated) in opposite:
                return _bad(f"it expects {belief.predicate} and its opposite", belief)
        if now is not None and not -1.0 <= now - trace.stamp <= self._config.max_age:
            return Verdict(TraceError.STALE, f"it was made {now - trace.stamp:.0f} s ago")
        return None

    def _semantics(self, trace: Trace) -> Verdict | None:
        """Refuse a trace that names what does not exist (eq. D.1)."""
        beliefs = (*trace.beliefs, *trace.expectation.beliefs)
        names = [*trace.action.arguments, *(name for belief in beliefs for name in belief.arguments)]
        names += [trace.expectation.about] if trace.expectation.about else []
        for name in names:
            entity, region = entity_of(name), region_of(name)
            if entity is not None:
                if self._world.entity(entity) is None:
                    return Verdict(TraceError.UNKNOWN_ENTITY, f"entity {entity} is not in the scene")
            elif region is not None:
                if self._world.region(region) is None:
                    return Verdict(TraceError.UNKNOWN_ENTITY, f"region {region} is not in the scene")
            elif name != ROBOT:
                return _bad(f"{name[:40]!r} names no entity and no region")
        for entity in trace.expectation.visible:
            if self._world.entity(entity) is None:
                return Verdict(TraceError.UNKNOWN_ENTITY, f"entity {entity} is not in the scene")
        return None

    def _physics(self, trace: Trace) -> Verdict | None:
        goal, grid = trace.action.goal, self._world.grid
        if (
            goal is not None
            and grid is not None
            and trace.action.skill in _MOVES
            and not footprint_free(grid, goal)
        ):
            return Verdict(
                TraceError.UNREACHABLE, f"the robot does not fit at ({goal[0]:.1f}, {goal[1]:.1f})"
            )
        return next((verdict for belief in trace.beliefs if (verdict := self._belief(belief))), None)

    def _belief(self, belief: Belief) -> Verdict | None:
        """Refuse a belief that the geometry contradicts; what it cannot tell passes."""
        ids = [entity_of(name) for name in belief.arguments]
        things = [self._world.entity(i) for i in ids if i is not None]
        if belief.predicate == "InRegion":
            return self._in_region(belief, things[0] if things else None)
        if belief.negated or len(things) != 2 or things[0] is None or things[1] is None:
            return None
        measure = measured(belief.predicate, things[0], things[1], self._config)
        if measure is None or measure.holds:
            return None
        where = f"{measure.value:.1f} m, at most {measure.limit:.1f} m"
        reason = f"it is not so that {said(belief)}: {where}"
        return Verdict(TraceError.INCONSISTENT, reason, belief, measure.excess)

    def _in_region(self, belief: Belief, thing: Entity | None) -> Verdict | None:
        region = region_of(belief.arguments[1])
        if thing is None or region is None or (thing.region_id == region) != belief.negated:
            return None
        return Verdict(TraceError.INCONSISTENT, f"it is not so that {said(belief)}", belief)


def said(belief: Belief) -> str:
    """Return a belief as it is written: "NextTo(entity:12, entity:7)"."""
    return f"{'not ' * belief.negated}{belief.predicate}({', '.join(belief.arguments)})"


def _bad(reason: str, belief: Belief | None = None) -> Verdict:
    return Verdict(TraceError.MALFORMED, reason, belief)
