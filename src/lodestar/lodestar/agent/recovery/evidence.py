"""Measures the evidence of a failed action: navigator, path, contacts, pose, inputs, battery, target."""

from __future__ import annotations

import numpy as np

from lodestar.agent.decisions.only_fit import unmet_neighbours
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import SHIFTED, Failure, OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import RECOVERY_CAMERA_PATIENCE
from lodestar.agent.facts.errors import GOAL_REFUSED, POSE_REFUSED, is_controller_stuck, is_planner_refusal
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

RECOVERY_DRIVE_BLIND_WAY = 2.0  # m that the robot drives on without images, at most (ours)

_BESIDE = 0.45  # m from a blockage within which an object is taken for it
_SHOWN = 0.3  # m around a contact within which an obstacle on the grid explains it
_AROUND = 3.0  # m within which the surroundings are compared after a jump
_CONTRADICTS = 0.2  # share of the obstacles there that stand on formerly free cells
_APART = 0.5  # m between two objects; nearer, the second may be the first from another side
_FRESH = 1.0  # s (stamps) before the action within which a first observation counts as new


class EvidenceGatherer:
    """Measures facts about a case from the loop's data. It changes nothing but the case's first blockage."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def measure(self, run: DirectiveRun, case: OpenCase) -> Evidence:
        """Return the current evidence. The phase of the failure decides which facts are measured."""
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
        """Return the measured facts with the case's discrepancy, place and diagnostic observations made so
        far.
        """
        return Evidence(self._discrepancy(case), facts, self._where(case), case.looks)

    def is_verified_gone(self, entity_id: int) -> bool:
        """Return whether the scene observed that the entity's place is empty."""
        mirror = self._context.facts.mirror
        entity = None if mirror is None else mirror.get(entity_id)
        return entity is not None and entity.state is EntityState.ARCHIVED

    def of_drive(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return the facts about the navigator, the inputs and the pose."""
        return self._navigator(case) | self._inputs(run, case) | self._pose(run, case)

    def of_way(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return the facts about contacts and blockages of the path. Blockages are left out while a pose jump
        is not handled.
        """
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
            facts["images_old"] = context.facts.blind_for > RECOVERY_CAMERA_PATIENCE
        return facts

    def is_blind(self) -> bool:
        """Return whether the robot drives without images: for too long, and too far for a blank wall."""
        facts = self._context.facts
        driven = facts.odometer.distance - facts.sighted_until
        return driven > RECOVERY_DRIVE_BLIND_WAY

    def has_jumped(self, run: DirectiveRun) -> bool:
        """Return whether the pose has jumped since the directive began and the jump is not handled yet.

        Until it is handled, places and grids from before the jump cannot be compared with later ones.
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

    # --- the path ---------------------------------------------------------------------------------------------

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
        if was_free or is_free:  # if it never fitted, nothing has changed
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
        """Return the blockage of the path planned when the action began, None if it is free."""
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
        """Return which kinds of objects were first seen at the blockage.

        The absence of a kind is reported only after a diagnostic observation, because an object needs several
        images to be confirmed.
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
        """Return the facts about the action's entity."""
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
            del measures["target_gone"]  # concerns the new place, for which no diagnosis asks
        return measures

    def was_known(self, run: DirectiveRun, entity_id: int) -> bool:
        """Return whether the entity was seen before the directive began."""
        mirror = self._context.facts.mirror
        entity = None if mirror is None else mirror.get(entity_id)
        return entity is not None and Stamp(entity.first_seen) < run.begun_stamp

    def twins(self, run: DirectiveRun, entity_id: int) -> list[Entity]:
        """Return the matching entities that were first seen since the directive began, at another place than
        this entity; [] if this entity was not known before.
        """
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
        mirror, accept = self._context.facts.mirror, self._context.config.query.accept
        assert mirror is not None
        view = self._context.targets.look(mirror, run.step)
        own = [
            c for c in view.candidates if c.entity_id == entity.id
        ]  # it may lack only a neighbour, see `OnlyFit`
        lacks = [unmet_neighbours(c, run.step.graphs[c.reading], accept) for c in own]
        return view.is_accepted(entity.id) or any(lacks)

    def _hidden(self, run: DirectiveRun, case: OpenCase, entity: Entity) -> bool:
        """Return whether a new obstacle hides the entity from the robot."""
        facts, grids = self._context.facts, self.grids_before(run, case)
        if facts.grid is None or facts.pose is None:
            return False
        return is_hidden(grids, facts.grid, facts.pose, entity)

    def grids_before(self, run: DirectiveRun, case: OpenCase) -> tuple[OccupancyGrid2D, ...]:
        """Return the grids at the begin of this action and of the first action on the same entity."""
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
        """Return the relations of the trace's entity to its neighbours, as measured now (`relations_of`)."""
        context, about = self._context, trace.expectation.about
        entity = context.facts.entity(entity_of(about) or 0)
        if entity is None:
            return ()
        others = context.facts.entities.values()
        return relations_of(about, entity, others, margin)

    def _holds(self, belief: Belief) -> bool:
        """Return whether the geometry does not contradict a relation and all its objects are present."""
        facts = self._context.facts
        things = [facts.entity(i) for name in belief.arguments if (i := entity_of(name)) is not None]
        present = [one for one in things if one is not None]
        if len(present) < len(things):
            return False
        if len(present) != 2:
            return True
        measure = measured(belief.predicate, present[0], present[1])
        return measure is None or measure.holds

    def _where(self, case: OpenCase) -> tuple[float, float] | None:
        if case.blockage is not None:
            return case.blockage.center
        mean = case.action.means.get(case.action.entity_id)
        return None if mean is None else (float(mean[0]), float(mean[1]))
