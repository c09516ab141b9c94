"""Validation of traces in three layers: syntax, semantics, physics (VLM-DEWM D.2)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np

from lodestar.grid.energy import EnergyBudget
from lodestar.grid.footprint import GO2, footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import bearing_to_box, footprint_distance
from lodestar.grid.visibility import line_of_sight
from lodestar.grid.way_lengths import WayLengths
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.worldmodel.amendment_checks import belief_fault
from lodestar.worldmodel.belief_measures import measured
from lodestar.worldmodel.config import ValidationConfig
from lodestar.worldmodel.reach import ConnectedFloor
from lodestar.worldmodel.records import ROBOT, Belief, Trace, TraceError, Verdict, entity_of, region_of, said
from lodestar.worldmodel.skills import SkillRule, SkillTable, load_skills

VALIDATION_MAX_BELIEFS = 50  # beliefs of one trace (ours)
# m of clearance without which no path leads through; below the least of `shared.reach` (ours)
VALIDATION_GAP = 0.12
VALIDATION_SNAP = 0.5  # m around robot and goal within which a path may begin and end (ours)
VALIDATION_FACES_WITHIN = 1.0  # m from the footprint to a target that the goal must face (DESIGN 3)
VALIDATION_MAX_BEARING = math.radians(75.0)  # off a faced target; success asks for 30 degrees (ours)
VALIDATION_IGNORE_LAST = 0.8  # m before a target that furniture under it may occupy, as for viewpoints (ours)

_CLOSE = 1e-6  # tolerance of a float32 confidence


class World(Protocol):
    """Interface to the current state of the world. Implementations return it without copying."""

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid, with the keep-out zones."""

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map, None if unknown."""

    @property
    def energy(self) -> EnergyBudget:
        """Return the remaining energy budget."""

    @property
    def charger(self) -> np.ndarray | None:
        """Return the position (2,) where the drive must end, metres in map; None = it may end anywhere."""

    @property
    def map_id(self) -> int:
        """Return the id of the map of the robot's floor."""

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity with this id, or the one it was merged into, archived or not; None if unknown."""

    def region(self, region_id: int) -> Region | None:
        """Return the region with this id, None if it is unknown."""


class TraceValidator:
    """Checks traces against a world; the time it takes does not depend on the number of entities.

    It refuses only clear errors; the proposers of actions check goals and paths more precisely.
    """

    def __init__(
        self, world: World, config: ValidationConfig | None = None, skills: SkillTable | None = None
    ) -> None:
        self._world, self._config = world, config or ValidationConfig()
        self._skills = skills or load_skills()
        self._floor = ConnectedFloor(VALIDATION_GAP, VALIDATION_SNAP)
        self._ways_there, self._ways_back = WayLengths(), WayLengths()

    def check(self, trace: Trace, now: float | None = None) -> Verdict:
        """Return the verdict on a trace. now: stamp in seconds; None = ignore the trace's age."""
        return self._syntax(trace, now) or self._semantics(trace) or self._physics(trace) or Verdict()

    def fits(self, pose: np.ndarray) -> bool:
        """Return whether the footprint is free at pose (3,), or no grid is known."""
        return self._world.grid is None or footprint_free(self._world.grid, pose)

    def _syntax(self, trace: Trace, now: float | None) -> Verdict | None:
        goal, skill = trace.action.goal, trace.action.skill
        if not self._skills.knows(skill):
            return _bad(f"there is no skill {skill.value[:40]!r}")
        if len(trace.action.arguments) < self._skills.rule(skill).arity:
            return _bad(f"{skill.value} needs {self._skills.rule(skill).arity} arguments")
        if goal is not None and (np.shape(goal) != (3,) or not np.isfinite(goal).all()):
            return _bad(f"goal {np.asarray(goal).tolist()} is not a pose")
        if not -_CLOSE <= trace.confidence <= 1.0 + _CLOSE:  # also NaN
            return _bad(f"confidence {trace.confidence} does not lie in [0, 1]")
        expected = trace.expectation.beliefs
        if len(trace.beliefs) + len(expected) > VALIDATION_MAX_BELIEFS:
            return _bad(f"it has more than {VALIDATION_MAX_BELIEFS} beliefs")
        for belief in (*trace.beliefs, *expected):
            if fault := belief_fault(belief):
                return _bad(fault, belief)
        opposite = {(b.predicate, b.arguments, not b.negated) for b in expected}
        for belief in expected:
            if (belief.predicate, belief.arguments, belief.negated) in opposite:
                return _bad(f"it expects {belief.predicate} and its opposite", belief)
        if now is not None and not -1.0 <= now - trace.stamp <= self._config.max_age:
            return Verdict(TraceError.STALE, f"it was made {now - trace.stamp:.0f} s ago")
        return None

    def _semantics(self, trace: Trace) -> Verdict | None:
        """Return the refusal of a trace that names a missing entity or region (eq. D.1), else None."""
        beliefs = (*trace.beliefs, *trace.expectation.beliefs)
        names = [*trace.action.arguments, *(name for belief in beliefs for name in belief.arguments)]
        names += [trace.expectation.about] if trace.expectation.about else []
        for name in names:
            entity, region = entity_of(name), region_of(name)
            if entity is not None:
                missing = self._missing(entity)
                if missing is not None:
                    return missing
            elif region is not None:
                if self._world.region(region) is None:
                    return Verdict(TraceError.UNKNOWN_ENTITY, f"region {region} is not in the scene")
            elif name != ROBOT:
                return _bad(f"{name[:40]!r} names no entity and no region")
        return next((v for i in trace.expectation.visible if (v := self._missing(i)) is not None), None)

    def _missing(self, entity_id: int) -> Verdict | None:
        """Return the refusal of an entity that is unknown, archived or on another floor, else None."""
        entity = self._world.record(entity_id)
        if entity is None:
            return Verdict(TraceError.UNKNOWN_ENTITY, f"entity {entity_id} is not in the scene")
        if entity.state is EntityState.ARCHIVED:
            seen = f"it was last seen at {entity.last_seen:.0f} s"
            return Verdict(TraceError.ARCHIVED, f"entity {entity_id} is gone; {seen}")
        if entity.map_id != self._world.map_id:
            floors = f"map {entity.map_id}, and the robot on map {self._world.map_id}"
            return Verdict(TraceError.OTHER_FLOOR, f"entity {entity_id} is on {floors}")
        return None

    def _physics(self, trace: Trace) -> Verdict | None:
        rule, goal = self._skills.rule(trace.action.skill), trace.action.goal
        if goal is not None and rule.goal == "free":
            if self._world.grid is None:
                return Verdict(TraceError.NO_MAP, "there is no grid yet; does mapping run?")
            refused = self._goal(goal, self._world.grid, rule) or self._target(
                trace, goal, self._world.grid, rule
            )
            if refused is not None:
                return refused
        beliefs = (*trace.beliefs, *self._skills.required(trace.action))
        return next((verdict for belief in beliefs if (verdict := self._belief(belief))), None)

    def _goal(self, goal: np.ndarray, grid: OccupancyGrid2D, rule: SkillRule) -> Verdict | None:
        """Return the refusal of a goal, else None.

        A goal is refused if it lies off the map or in an obstacle or keep-out zone, is unreachable, or too
        far for the battery. When to return to the charger is decided by the loop, not here.
        """
        place = f"({goal[0]:.1f}, {goal[1]:.1f})"
        if not grid.contains(grid.cells_of(goal[:2])):
            return Verdict(TraceError.UNREACHABLE, f"{place} is outside the map that I have so far")
        if not footprint_free(grid, goal):
            plain = grid if grid.keep_out is None else replace(grid, keep_out=None)
            if plain is not grid and footprint_free(plain, goal):
                return Verdict(TraceError.CONSTRAINT_VIOLATED, f"{place} lies in a keep-out zone")
            return Verdict(TraceError.UNREACHABLE, f"the robot does not fit at {place}")
        pose, energy = self._world.pose, self._world.energy
        if pose is None:
            return None
        if not self._floor.joins(grid, pose, goal):
            return Verdict(TraceError.UNREACHABLE, f"no way leads from the robot to {place}")
        if rule.energy and energy.limited:
            there, back = self._length(self._ways_there, grid, pose, goal), self.way_back(grid, goal)
            need, left = there + back, energy.spendable
            if need > left:
                home = f" and {back:.0f} m from the charger" if back else ""
                reason = f"{place} is {there:.0f} m away{home}, and the battery lasts for {left:.0f} m"
                return Verdict(TraceError.ENERGY, reason, excess=need - left)
        return None

    def way_back(self, grid: OccupancyGrid2D, place: np.ndarray) -> float:
        """Return the metres from a place (2 or 3,) to the charger, planned once per grid.

        0 if the drive may end anywhere. If no path is known, the straight distance times `detour`.
        """
        charger = self._world.charger
        return 0.0 if charger is None else self._length(self._ways_back, grid, charger, place)

    def _length(self, ways: WayLengths, grid: OccupancyGrid2D, start: np.ndarray, end: np.ndarray) -> float:
        length = ways.between(grid, start, end)
        return length if math.isfinite(length) else self._config.detour * math.dist(start[:2], end[:2])

    def _target(
        self, trace: Trace, goal: np.ndarray, grid: OccupancyGrid2D, rule: SkillRule
    ) -> Verdict | None:
        """Return the refusal of a goal beside its target that does not face or see it, else None."""
        entity_id = entity_of(trace.action.arguments[0]) if trace.action.arguments else None
        target = None if entity_id is None else self._world.record(entity_id)
        if rule.target != "faces" or target is None:
            return None
        low, high = target.box_min, target.box_max
        if footprint_distance(goal, GO2, low, high) > VALIDATION_FACES_WITHIN:
            return None  # a place on the way to the target
        off = abs(bearing_to_box(goal, low, high))
        if off > VALIDATION_MAX_BEARING:
            turned = f"it is {math.degrees(off):.0f} degrees off its heading"
            return Verdict(TraceError.UNREACHABLE, f"the goal does not face entity {entity_id}: {turned}")
        nearest = np.clip(goal[:2], low[:2], high[:2])
        if not bool(line_of_sight(grid, goal[:2], nearest[None], VALIDATION_IGNORE_LAST)[0]):
            return Verdict(
                TraceError.UNREACHABLE, f"an obstacle stands between the goal and entity {entity_id}"
            )
        return None

    def _belief(self, belief: Belief) -> Verdict | None:
        """Return the refusal of a belief that the geometry contradicts, else None.

        Beliefs that cannot be measured pass.
        """
        if belief.arguments[0] == ROBOT and belief.predicate in ("Near", "NextTo"):
            return self._within_reach(belief)
        ids = [entity_of(name) for name in belief.arguments]
        things = [self._world.record(i) for i in ids if i is not None]
        if belief.predicate == "InRegion":
            return self._in_region(belief, things[0] if things else None)
        if len(things) != 2 or things[0] is None or things[1] is None:
            return None
        measure = measured(belief.predicate, things[0], things[1])
        if measure is None or measure.holds != belief.negated:
            return None
        where = f"{measure.value:.1f} m, at most {measure.limit:.1f} m"
        reason = f"it is not so that {said(belief)}: {where}"
        return Verdict(TraceError.INCONSISTENT, reason, belief, abs(measure.value - measure.limit))

    def _within_reach(self, belief: Belief) -> Verdict | None:
        """Return the refusal of a belief that the robot's pose contradicts, else None.

        The belief says that the robot stands within reach of an object, or does not.
        """
        thing = self._world.record(entity_of(belief.arguments[1]) or 0)
        if self._world.pose is None or thing is None:
            return None
        limit = VALIDATION_FACES_WITHIN
        away = footprint_distance(self._world.pose, GO2, thing.box_min, thing.box_max)
        if (away <= limit) != belief.negated:
            return None
        reason = f"it is not so that {said(belief)}: {away:.1f} m, at most {limit:.1f} m"
        return Verdict(TraceError.INCONSISTENT, reason, belief, abs(away - limit))

    def _in_region(self, belief: Belief, thing: Entity | None) -> Verdict | None:
        region = region_of(belief.arguments[1])
        if thing is None or region is None or (thing.region_id == region) != belief.negated:
            return None
        return Verdict(TraceError.INCONSISTENT, f"it is not so that {said(belief)}", belief)


def _bad(reason: str, belief: Belief | None = None) -> Verdict:
    return Verdict(TraceError.MALFORMED, reason, belief)
