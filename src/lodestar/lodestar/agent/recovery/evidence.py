"""Measures the evidence of a failed action: navigator, way, contacts, pose, inputs, battery, target."""

from __future__ import annotations

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import SHIFTED, Failure, OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import (
    GOAL_REFUSED,
    POSE_REFUSED,
    is_controller_stuck,
    is_planner_refusal,
)
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.geometry.boxes import box_distance
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import NoPath, plan_path
from lodestar.models.kinship import same_kind
from lodestar.scene.records import Entity, EntityState
from lodestar.worldmodel.belief_measures import measured, relations_of
from lodestar.worldmodel.diagnosis import Evidence
from lodestar.worldmodel.discrepancies import discrepancy
from lodestar.worldmodel.outcomes import ConstraintState, Discrepancy, Look
from lodestar.worldmodel.records import Belief, Phase, Trace, entity_of
from lodestar.worldmodel.recovery_places import is_hidden
from lodestar.worldmodel.way_change import Blockage, blockage_of, mismatch

_BESIDE = 0.45  # m from what came into the way within which a thing is taken for it
_SHOWN = 0.3  # m around a contact in which an obstacle on the grid explains it
_AROUND = 3.0  # m in which the surroundings are compared after a jump
_CONTRADICTS = 0.2  # share of the obstacles there that stand where it was free
_APART = 0.5  # m between two things; nearer, the second may be the first, seen from another side
_FRESH = 1.0  # s (stamps) before the action within which what was first seen counts as new


class EvidenceGatherer:
    """Reads facts about a case from what the loop knows. It changes nothing but the case's first blockage."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def measure(self, run: DirectiveRun, case: OpenCase) -> Evidence:
        """Return the evidence as it is now.

        The phase in which the action failed says what is worth measuring.
        """
        facts = {
            "stopped_on_way": case.failure in (Failure.STOPPED, Failure.SILENT),
            "arrived": case.failure in (Failure.NOT_SEEN, Failure.NOT_IT),
        }
        facts |= self.of_drive(run, case)
        if case.failure is Failure.STOPPED:
            facts |= self.of_way(run, case)
        elif case.failure is not Failure.INPUTS:
            facts |= self.of_target(run, case)
        return self.evidence(case, facts)

    def evidence(self, case: OpenCase, facts: dict[str, bool]) -> Evidence:
        """Return measured facts with the discrepancy, the place and the looks of the case."""
        return Evidence(self._discrepancy(case), facts, self._where(case), case.looks)

    def is_verified_gone(self, entity_id: int) -> bool:
        """Return whether the scene has looked through the place of an entity."""
        mirror = self._context.facts.mirror
        entity = None if mirror is None else mirror.get(entity_id)
        return entity is not None and entity.state is EntityState.ARCHIVED

    def of_drive(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return the facts about the navigator, the inputs and the pose."""
        return self._navigator(case) | self._inputs(run, case) | self._pose(run, case)

    def of_way(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return the facts about contacts and what came into the way, which say nothing while a jump is not settled."""
        facts = self._contact(case)
        return facts if self.has_jumped(run) else facts | self._way(case) | self.things_in_way(case)

    def _navigator(self, case: OpenCase) -> dict[str, bool]:
        facts = {"navigator_silent": case.failure is Failure.SILENT}
        if case.failure is Failure.STOPPED:
            facts |= {
                "goal_refused": case.code in GOAL_REFUSED,
                "pose_refused": case.code in POSE_REFUSED,
                "planner_refused": is_planner_refusal(case.code),
                "controller_stuck": is_controller_stuck(case.code) or case.code == 0,
            }
        return facts

    def _inputs(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        context = self._context
        facts = {"battery_low": run.charging, "pose_old": context.pose_is_old}
        if context.config.grid_patience > 0.0:
            facts["ranges_old"] = context.grid_is_old
        if context.facts.sight > NEVER:
            facts["images_old"] = context.facts.blind_for > context.config.recovery.camera_patience
        return facts

    def is_blind(self) -> bool:
        """Return whether the robot drives on without any sight: for too long, and too far for a blank wall."""
        facts = self._context.facts
        driven = facts.odometer.distance - facts.sighted_until
        return driven > self._context.config.recovery.drive_blind_way

    def has_jumped(self, run: DirectiveRun) -> bool:
        """Return whether the pose jumped since the directive began, and that was not settled yet.

        Until then, places and grids from before the jump say nothing about those after it.
        """
        return self._context.facts.odometer.jumped_at > max(run.begun_stamp, run.jump_settled)

    def _pose(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        facts = self._context.facts
        jumped = self.has_jumped(run)
        newer = case.action.began >= facts.odometer.jumped_at or case.action.grid is None
        before = facts.grid_before_jump if newer else case.action.grid
        measures = {"pose_jumped": jumped}
        if jumped and before is not None and facts.grid is not None and facts.pose is not None:
            shares = [mismatch(before, facts.grid, facts.pose, _AROUND)]
            if facts.odometer.jump is not None:  # the map may have followed the pose
                shares.append(mismatch(before, facts.grid, facts.pose, _AROUND, facts.odometer.jump))
            measures["map_contradicts"] = min(shares) > _CONTRADICTS
        return measures

    # --- the way ----------------------------------------------------------------------------------------------

    def _contact(self, case: OpenCase) -> dict[str, bool]:
        facts = self._context.facts
        contact = facts.contacts.last
        if not facts.contacts.is_felt:
            return {}
        if contact is None or contact.stamp <= case.action.began:
            return {"contact_felt": False}
        if facts.grid is None:
            return {"contact_felt": True}
        unseen = not facts.grid.has_obstacle(np.array(contact.xy), _SHOWN)
        return {"contact_felt": True, "contact_unseen": unseen}

    def _way(self, case: OpenCase) -> dict[str, bool]:
        facts, action = self._context.facts, case.action
        now, before, pose = facts.grid, action.grid, facts.pose
        measured_facts: dict[str, bool] = {}
        goal = case.action.trace.action.goal
        if now is None or before is None or pose is None or goal is None:
            return measured_facts
        was_free, is_free = footprint_free(before, goal), footprint_free(now, goal)
        if was_free or is_free:  # where it never fitted, nothing has come
            measured_facts["goal_covered"] = not is_free
        blockage = self.blockage(case)
        measured_facts["way_newly_blocked"] = blockage is not None
        if case.blockage is None:
            case.blockage = blockage
        elif Look.WAIT in case.looks:
            measured_facts["blocker_left"] = blockage is None
            measured_facts["blocker_stayed"] = blockage is not None
        shown = blockage or case.blockage
        if shown is not None:
            measured_facts["blocked_in_opening"] = shown.in_opening
            measured_facts["opening_filled"] = shown.fills
        return measured_facts

    def blockage(self, case: OpenCase) -> Blockage | None:
        """Return what has come into the way that was planned when the action began, None where it is free."""
        facts, action = self._context.facts, case.action
        goal = action.trace.action.goal
        if facts.grid is None or action.grid is None or facts.pose is None or goal is None:
            return None
        try:
            way = plan_path(action.grid, action.start[:2], goal[:2])
        except NoPath:
            return None
        return blockage_of(action.grid, facts.grid, way, facts.pose)

    def things_in_way(self, case: OpenCase) -> dict[str, bool]:
        """Return of which kind the things are that were first seen where the way is blocked.

        That none of a kind is there is known only after a look: a thing takes some images to be confirmed.
        """
        if case.blockage is None:
            return {}
        centre = np.array(case.blockage.center)
        points = case.blockage.points
        near = [
            e
            for e in self._context.facts.entities.values()
            if e.state is not EntityState.ARCHIVED
            and e.first_seen > case.action.began.after(-_FRESH).seconds
            and min(
                float(box_distance(p, p, e.box_min[:2], e.box_max[:2])) for p in (centre, points[0], points[-1])
            ) <= _BESIDE
        ]  # fmt: skip
        movers = [e for e in near if self._context.priors.of(e.label).moves_by_itself]
        doors = [e for e in near if same_kind(e.label, "door")]
        found = {
            "mover_in_way": bool(movers),
            "door_in_way": bool(doors),
            "thing_in_way": len(near) > len(movers) + len(doors),
        }
        looked = Look.WAIT in case.looks
        return {kind: there for kind, there in found.items() if there or looked}

    # --- the target -------------------------------------------------------------------------------------------

    def of_target(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return the facts about the thing that the action is about."""
        action, facts = case.action, self._context.facts
        if not action.entity_id or facts.mirror is None:
            return {}
        entity = facts.mirror.get(action.entity_id)
        gone = entity is None or entity.state is EntityState.ARCHIVED
        twins = self.twins(run, action.entity_id)
        measures = {"target_gone": gone, "twin_appeared": bool(twins)}
        if gone or entity is None:
            return measures
        mean = action.means.get(action.entity_id)
        drifted = 0.0 if mean is None else float(np.linalg.norm(np.asarray(entity.mean)[:2] - mean[:2]))
        wrong = action.entity_id in action.fitting and not self._fits(run, entity)
        since = action.began if case.arrived is NEVER else case.arrived
        measures |= {
            "target_doubted": entity.state is EntityState.UNCERTAIN or entity.confidence < 1.0,
            "target_seen": self._context.facts.last_seen(entity) > since,
            "target_relabelled": wrong,
        }
        if self.has_jumped(run):
            return measures
        measures["target_shifted"] = (
            drifted > SHIFTED and self._context.facts.last_seen(entity) > action.began
        )
        measures["sight_newly_blocked"] = self._hidden(run, case, entity)
        if measures["target_shifted"]:
            del measures["target_gone"]  # of the place where it stands now; nobody asks for that
        return measures

    def was_known(self, run: DirectiveRun, entity_id: int) -> bool:
        """Return whether an entity was there before the directive began."""
        mirror = self._context.facts.mirror
        entity = None if mirror is None else mirror.get(entity_id)
        return entity is not None and Stamp(entity.first_seen) < run.begun_stamp

    def twins(self, run: DirectiveRun, entity_id: int) -> list[Entity]:
        """Return things that fit and were first seen since the directive began, beside one that was known before it."""
        if not self.was_known(run, entity_id):
            return []
        known = self._context.facts.entity(entity_id)
        return [
            e
            for e in self._context.search.fitting(run)
            if e.id != entity_id
            and Stamp(e.first_seen) > run.begun_stamp
            and (
                known is None
                or float(box_distance(e.box_min, e.box_max, known.box_min, known.box_max)) > _APART
            )
        ]

    def _fits(self, run: DirectiveRun, entity: Entity) -> bool:
        mirror = self._context.facts.mirror
        assert mirror is not None
        return self._context.targets.look(mirror, run.step).is_accepted(entity.id)

    def _hidden(self, run: DirectiveRun, case: OpenCase, entity: Entity) -> bool:
        """Return whether something new stands between the robot and the thing."""
        facts, grids = self._context.facts, self.grids_before(run, case)
        if facts.grid is None or facts.pose is None:
            return False
        return is_hidden(grids, facts.grid, facts.pose, entity)

    def grids_before(self, run: DirectiveRun, case: OpenCase) -> tuple[OccupancyGrid2D, ...]:
        """Return the grids when this action began, and when the first one about the same thing did."""
        grids = case.action.grid, run.errand.grids.get(case.action.entity_id)
        return tuple(grid for grid in grids if grid is not None)

    # --- discrepancy ------------------------------------------------------------------------------------------

    def _discrepancy(self, case: OpenCase) -> Discrepancy:
        facts, trace = self._context.facts, case.action.trace
        about = trace.expectation.about
        actual = {
            Failure.NOT_SEEN: ConstraintState(Phase.VERIFYING, about),
            Failure.NOT_IT: ConstraintState(Phase.VERIFYING, about),
        }.get(case.failure, ConstraintState(Phase.INTERRUPTED, about))
        believed = (*trace.expectation.beliefs, *trace.beliefs)
        holding = dict.fromkeys(belief for belief in believed if not belief.negated and self._holds(belief))
        holding |= dict.fromkeys(self.relations(trace))
        return discrepancy(
            trace, actual, tuple(holding), case.action.means, facts.entities, had=case.action.relations
        )

    def relations(self, trace: Trace, margin: float = 0.0) -> tuple[Belief, ...]:
        """Return the relations of the thing that a trace is about to those beside it, measured now (`relations_of`)."""
        context, about = self._context, trace.expectation.about
        entity = context.facts.entity(entity_of(about) or 0)
        if entity is None:
            return ()
        others = context.facts.entities.values()
        return relations_of(about, entity, others, context.config.validation, margin)

    def _holds(self, belief: Belief) -> bool:
        """Return whether the geometry does not contradict a relation, and its things are there."""
        facts = self._context.facts
        things = [facts.entity(i) for name in belief.arguments if (i := entity_of(name)) is not None]
        present = [one for one in things if one is not None]
        if len(present) < len(things):
            return False
        if len(present) != 2:
            return True
        measure = measured(belief.predicate, present[0], present[1], self._context.config.validation)
        return measure is None or measure.holds

    def _where(self, case: OpenCase) -> tuple[float, float] | None:
        if case.blockage is not None:
            return case.blockage.center
        mean = case.action.means.get(case.action.entity_id)
        return None if mean is None else (float(mean[0]), float(mean[1]))
