"""State VERIFYING: the robot stands at a goal and observes before it claims or decides anything."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.admission import CHARGER, HOME, PASSAGE, PLACE
from lodestar.agent.decisions.ambiguity import NextMove
from lodestar.agent.decisions.approach import Arrival, faced_entity, faces
from lodestar.agent.decisions.only_fit import unmet_neighbours
from lodestar.agent.errands.commands import Choice, OpenQuestion
from lodestar.agent.errands.errand import BELOW_ACCEPT, FOUND, REACHED, UNCONFIRMED, UNREACHABLE, Failure
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import name_of, nothing_here, place_of, presumed_in_words, why_not
from lodestar.agent.facts.config import LOOP_LOOK_TIME, LOOP_SETTLE_TIME, LOOP_SIGHT_MARGIN
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Proposal
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD
from lodestar.grid.visibility import line_of_sight
from lodestar.language.directive import EVERY
from lodestar.models.english import listed
from lodestar.perception.eyes import eyes_of
from lodestar.query.ambiguity import choices_in_words
from lodestar.query.targets import TargetView
from lodestar.scene.captions import clean_text
from lodestar.scene.floor_height import foot_height
from lodestar.scene.records import Entity, EntityState
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.outcomes import Look, Result

RECOVERY_TURN_REACH = 6.0  # m to a known object's place within which a turn shows it (ours)
# s (stamps) before the arrival in which a high target must have been seen (ADR 0006)
LOOP_SIGHT_BEFORE_ARRIVAL = 1.0
# s (stamps) before the arrival in which a thing that the detector seldom sees counts as seen on the way to it (ours)
LOOP_APPROACH = 20.0
LOOP_NEAR = 2.5  # m, a detection from up to there is one from near (ours)
# radians between directions of view from which both a thing was surely seen: twice the change of viewpoint over which
# a false detection stays (docs/measurements/detector-noise.md); then depth alone must show that it still stands
LOOP_SIDES = 0.9
LOOP_SELDOM = 0.5  # chance of a detection below which a miss on arrival does not count (ours)
_SELDOM = "my detector seldom sees it from this near"
ON_ARRIVAL, ON_THE_WAY = "again on arrival", f"again on the way here; {_SELDOM}"
EARLIER = f"from two sides before; {_SELDOM}"
LOOP_QUESTION_CHOICES = 6  # choices that a question offers at most (ours)


class VerifyingState:
    """State in which the robot observes at a goal. Left by `redecide`, or by `finish` at the end of the
    directive.
    """

    def __init__(self, tools: Tools, activities: Activities) -> None:
        self._tools, self._activities = tools, activities
        self._context, self._transitions = tools.context, tools.transitions
        self._eyes = eyes_of(tools.context.config.look_limits.eyes)

    def step(self, run: DirectiveRun) -> None:
        """Judge the arrival once the robot has observed long enough: claim the target, or give up the goal or
        viewpoint. Arrivals at places, passages and the charger are handled by their own parts.
        """
        arrival, context = run.under_way.arrival, self._context
        config, facts = context.config, context.facts
        assert arrival is not None
        if arrival.expert == CHARGER and not self._tools.trip.is_elsewhere:
            self._tools.trip.verify(run)
            return
        if arrival.expert in (CHARGER, PASSAGE):
            self._tools.floors.arrived(run, arrival)
            return
        if arrival.expert in (HOME, PLACE):
            self._activities.of(run).arrived(run, arrival)
            return
        view = self._context.search.look(run)
        faced = faced_entity(context.search.accepted(view), facts, config)
        if faced is not None:
            self._judge_faced(run, arrival, faced, view)
            return
        entity = facts.entity(arrival.entity_id)
        if entity is not None:
            self._judge_unfaced(run, arrival, entity, view)
        elif context.now - arrival.since >= LOOP_LOOK_TIME:
            if self._diagnosed(run, arrival, Failure.VANISHED, "what I came for is not there any more"):
                return
            run.errand.goals.exclude(arrival.goal, REACHED, facts.grid)
            self._leave(run, view, nothing_here(run.step))

    def _judge_faced(self, run: DirectiveRun, arrival: Arrival, faced: Entity, view: TargetView) -> None:
        """Claim an accepted entity that the robot faces if it was seen again; give up this viewpoint if it was
        not.
        """
        context = self._context
        config, facts = context.config, context.facts
        settled = arrival.stamp.after(LOOP_SETTLE_TIME)
        if facts.last_seen(faced) > settled:
            self._claim_or_compare(run, faced, view)
        elif context.now - arrival.since > config.verify_time:
            chances = self._chances(faced)
            lately = facts.last_seen(faced) > arrival.stamp.after(-LOOP_APPROACH)
            how = _seen_before(faced, run.begun_stamp.seconds, lately)
            if how and chances.min() < LOOP_SELDOM:
                self._claim_or_compare(run, faced, view, how)
                return
            camera = config.viewpoints.camera_height
            high = foot_height(faced, camera) > camera  # a table's edge may hide it from nearby
            if faced.id in run.errand.hidden and high:
                self._claim_or_compare(run, faced, view)
                return
            if high and facts.last_seen(faced) > arrival.stamp.after(-LOOP_SIGHT_BEFORE_ARRIVAL):
                # do not exclude it after the first viewpoint from which it is hidden
                run.errand.hidden.add(faced.id)
            elif chances.min() >= LOOP_SELDOM and self._diagnosed(
                run, arrival, Failure.NOT_SEEN, f"{name_of(faced)} was not seen again"
            ):
                return
            for place in (arrival.goal, facts.known_pose):  # the robot may have stopped elsewhere
                run.errand.goals.exclude(place, UNCONFIRMED, facts.grid, lasting=True)
            run.errand.spend_viewpoint(faced.id, UNCONFIRMED)
            self._leave(run, view, f"{name_of(faced)} was not seen again from here")

    def _chances(self, entity: Entity) -> np.ndarray:
        """Return the chances (cases,) that the detector sees such a thing from here."""
        pose = self._context.facts.known_pose
        away = math.dist(pose[:2], nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2]))
        size = float((entity.box_max - entity.box_min).max())
        place = [max(away - VIEWPOINT_CAMERA_FORWARD, 0.1)]
        return self._eyes.cases(entity.label, size, place, is_found=True)[:, 0]

    def _judge_unfaced(self, run: DirectiveRun, arrival: Arrival, entity: Entity, view: TargetView) -> None:
        """Give up the viewpoint or the entity, after a while, because the robot does not face the goal's
        entity from here.
        """
        context = self._context
        config, facts, accepted = context.config, context.facts, view.is_accepted(entity.id)
        seen = facts.last_seen(entity) > arrival.stamp
        patience = LOOP_LOOK_TIME if seen and accepted else config.verify_time
        if context.now - arrival.since <= patience:
            return
        run.errand.goals.exclude(arrival.goal, "it does not show the target as it should", context.facts.grid)
        if accepted:  # its position is better known now, and it is not faced from here
            if faces(arrival.goal, entity, config):  # otherwise the goal was a place on the way
                run.errand.spend_viewpoint(entity.id, UNREACHABLE)
            self._leave(run, view, f"{name_of(entity)} is not in front of me; trying another place")
        elif not self._diagnosed(run, arrival, Failure.NOT_IT, why_not(entity, view.explanation(entity.id))):
            run.errand.excluded[entity.id] = BELOW_ACCEPT
            self._leave(run, view, why_not(entity, view.explanation(entity.id)))

    def _diagnosed(self, run: DirectiveRun, arrival: Arrival, failure: Failure, why: str) -> bool:
        """Diagnose a failed arrival at a target that was known to match. Return whether a diagnosis began."""
        action = run.under_way.action
        if action is None or not action.entity_id or action.entity_id not in action.fitting:
            return False
        proposal = Proposal(arrival.expert, action.trace.epoch, arrival.goal, 1.0, why, arrival.entity_id)
        return self._transitions.diagnosed(run, failure, proposal, why, arrived=arrival.stamp)

    def _leave(self, run: DirectiveRun, view: TargetView, text: str) -> None:
        self._tools.outcomes.close(run, Result.ROLLED_BACK, text)
        run.text = f"{text[:1].upper()}{text[1:]}."
        self._context.account.close(Outcome.REACHED, view)
        self._transitions.redecide(run)

    def _claim_or_compare(
        self, run: DirectiveRun, entity: Entity, view: TargetView, how: str = ON_ARRIVAL
    ) -> None:
        """Claim the target (report it as found), unless an ambiguous rival must be visited first.

        If another match has appeared since the directive began, either is accepted, and the appearance is
        reported. how: how it was seen, for the report.
        """
        known = self._known_beside(run, entity)
        if known is not None:
            if known.id != entity.id and self._looks_for(run, known, entity):
                return
            self._tools.outcomes.note_other(run, known.id)
            run.tell("Another one that fits has appeared since I was asked.")
            self._claim(run, entity, view, how)
            return
        step = run.errand.doubt.confirmed(entity.id) if run.step.count == 1 else NextMove.CLAIM
        which = run.errand.doubt.in_words(self._context.facts.entities)
        if step is NextMove.CLAIM:
            self._claim(run, entity, view, how)
        elif step is NextMove.NEXT:
            self._leave(
                run, view, f"too close to call: {which}; looking at the other" if which else "going back"
            )
        else:
            message = f"I looked at each from close by and cannot tell which is meant: {which}."
            self._tools.steps.fail(run, ErrorCode.AMBIGUOUS, message, self._question(run))

    def _known_beside(self, run: DirectiveRun, entity: Entity) -> Entity | None:
        """Return the only match that was known before the directive, if all other matches have appeared
        since; else None.
        """
        evidence, facts = self._tools.outcomes.evidence, self._context.facts
        if run.step.count != 1 or not self._context.config.recovery.enabled:
            return None
        accepted = {c.entity_id for c in self._context.search.look(run).accepted} | {entity.id}
        known = [i for i in accepted if evidence.was_known(run, i)]
        original = facts.entity(known[0]) if len(known) == 1 else None
        twins = [] if original is None else evidence.twins(run, original.id)
        if original is None or not twins or accepted - {original.id} - {twin.id for twin in twins}:
            return None
        return original

    def _looks_for(self, run: DirectiveRun, known: Entity, other: Entity) -> bool:
        """Turn to the place of the known object before it is reported as moved. Return whether the robot turns.

        other: the match in front of the robot.
        """
        context, arrival, action = self._context, run.under_way.arrival, run.under_way.action
        facts = context.facts
        if action is None or arrival is None or facts.grid is None or facts.pose is None:
            return False
        nearest = nearest_point_on_box(facts.pose[:2], known.box_min[:2], known.box_max[:2])
        if (
            facts.last_seen(known) > run.begun_stamp
            or run.errand.looks.get(known.id)
            or math.dist(facts.pose[:2], nearest) > RECOVERY_TURN_REACH
            or not line_of_sight(facts.grid, facts.pose[:2], nearest[None], LOOP_SIGHT_MARGIN)[0]
        ):
            return False
        run.under_way.action = replace(
            action, entity_id=known.id, means={known.id: known.mean.copy()}, label=known.label
        )
        proposal = Proposal(
            arrival.expert, action.trace.epoch, arrival.goal, 1.0, "facing it again", other.id
        )
        why = f"another one than {name_of(known)} stands here"
        looks = (Look.WAIT, Look.FROM_ELSEWHERE)  # neither would help
        return self._transitions.diagnosed(
            run, Failure.OTHER, proposal, why, arrived=run.begun_stamp, looks=looks
        )

    def _question(self, run: DirectiveRun) -> OpenQuestion:
        """Return a question that asks the user which of the rivals is meant. Its answer continues this step
        and excludes the other rivals.
        """
        context = self._context
        rivals = [c.entity_id for c in run.errand.doubt.rivals][:LOOP_QUESTION_CHOICES]
        facts = context.facts
        entities = [entity for i in rivals if (entity := facts.entity(i)) is not None]
        regions = {} if facts.mirror is None else facts.mirror.regions
        words = choices_in_words(entities, facts.entities, regions)
        rest = run.directive.from_step(run.step_index)
        every = frozenset(c.entity_id for c in run.errand.doubt.rivals)
        choices = tuple(
            Choice(said, rest, every - {e.id}, e.id, tuple(map(float, e.mean)))
            for said, e in zip(words, entities)
        )
        text = f"Which {clean_text(run.step.target)}: {listed(words, 'or')}?"
        return context.questions.ask(text, choices, context.now)

    def _claim(self, run: DirectiveRun, entity: Entity, view: TargetView, how: str) -> None:
        """Report the confirmed target as found (claim it), and continue with the next step or the next
        target.
        """
        context = self._context
        for thing in run.errand.gone.values():
            self._tools.outcomes.note_other(run, thing.entity_id)
            run.tell(f"{thing.name[:1].upper()}{thing.name[1:]} is no longer {thing.place}.")
        self._tools.outcomes.close(run, Result.COMMITTED, f"{name_of(entity)} was seen {how}")
        run.note_found([entity.id])
        run.errand.found_here += 1
        where = place_of(entity, context.facts.mirror, context.facts.building)
        text = f"Found {name_of(entity)} {where}: it is in front of me and was seen {how}."
        if view.presumed == entity.id:
            one = view.accepted[0]
            lacks = unmet_neighbours(one, run.step.graphs[one.reading], context.config.query.accept)
            text += f" {presumed_in_words(lacks)}"
        text += run.errand.doubt.others(entity.id, context.facts.entities) if run.step.count == 1 else ""
        if 0 < run.step.count <= run.errand.found_here:
            self._tools.steps.succeed(run, text, view)
            return
        run.tell(text)
        run.errand.excluded[entity.id] = FOUND
        more = run.step.count - run.errand.found_here
        left = "Looking for more" if run.step.count == EVERY else f"{more} more to find"
        run.text = f"{text} {left}."
        self._context.account.close(Outcome.REACHED, view, success=True)
        context.ledger.begin_subtask(context.now)
        self._transitions.redecide(run)


def _seen_before(entity: Entity, since: float, lately: bool) -> str:
    """Return how the entity was detected after the stamp `since`, if a false detection is unlikely: from two places
    or from near and `lately`, or from two sides if nothing shows that it is gone. "" = not so.
    """
    eyes = [view.map_from_camera[:2, 3] for view in entity.views if view.stamp >= since]
    away = [math.dist(eye, nearest_point_on_box(eye, entity.box_min[:2], entity.box_max[:2])) for eye in eyes]
    seen_well = len(away) > 1 or min(away, default=math.inf) <= LOOP_NEAR
    if seen_well and lately:
        return ON_THE_WAY
    is_near = min(away, default=math.inf) <= LOOP_NEAR
    angles = [math.atan2(*(entity.mean[:2] - eye)) for eye in eyes]
    widest = max((float(abs(wrap_angle(a - b))) for a in angles for b in angles), default=0.0)
    return EARLIER if is_near and widest >= LOOP_SIDES and entity.state is EntityState.ACTIVE else ""
