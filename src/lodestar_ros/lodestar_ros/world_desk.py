"""The actions of the world model: correct beliefs, and explain why an action failed."""

from __future__ import annotations

import queue
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from lodestar.scene.records import Refusal
from lodestar.worldmodel.amendment_checks import MalformedAmendment
from lodestar.worldmodel.corrections import OPERATOR, NothingMeant, NotUnderstood, Surroundings, correction_of
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.transactions import AlreadyUndone, Entry, NoSuchEntry, Overtaken
from lodestar.worldmodel.world_model import Reply, WorldModel
from lodestar_interfaces.action import CorrectBelief, Diagnose
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_world import amendment_from_msg, outcome_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ActionWorker, Job, Refused

Codes = CorrectBelief.Result
KEPT = 200  # number of newest outcomes that can be diagnosed
MARGIN = 5.0  # s of real time beyond the patience of the scene's client
_PROBLEMS = {
    Refusal.UNAVAILABLE: Codes.SCENE_UNAVAILABLE,
    Refusal.UNKNOWN_ENTITY: Codes.UNKNOWN_ENTITY,
    Refusal.STALE: Codes.CONFLICT,
    Refusal.BAD_REQUEST: Codes.NOT_UNDERSTOOD,
}


class SceneNotHeard(RuntimeError):
    """Raised while the entities of the scene dictionary are not received yet."""

    def __init__(self) -> None:
        super().__init__(
            "the scene has not been heard yet; try again in a few seconds, and see that scene_dictionary runs"
        )


_ERRORS: dict[type[Exception], int] = {
    NotUnderstood: Codes.NOT_UNDERSTOOD,
    NothingMeant: Codes.UNKNOWN_ENTITY,
    SceneNotHeard: Codes.SCENE_UNAVAILABLE,
    NoSuchEntry: Codes.NO_SUCH_ENTRY,
    AlreadyUndone: Codes.ALREADY_UNDONE,
    Overtaken: Codes.CONFLICT,
    BadMessage: Codes.NOT_UNDERSTOOD,
    MalformedAmendment: Codes.NOT_UNDERSTOOD,
}


class CorrectionDesk:
    """Serves ``~/correct``.

    run: runs work on the world model's thread. around(): returns the data that correction texts refer to.
    """

    def __init__(
        self,
        node: LodestarNode,
        world: WorldModel,
        run: Callable[[Callable[[], None]], None],
        around: Callable[[], Surroundings],
        patience: float,
    ) -> None:
        self._node, self._world, self._run, self._around = node, world, run, around
        self._patience = patience + MARGIN
        ActionWorker(
            node,
            CorrectBelief,
            "~/correct",
            self._correct,
            _ERRORS,
            cancelled="cancelled; nothing was changed",
        )

    def _correct(self, job: Job) -> CorrectBelief.Result:
        """Apply a correction and wait for its reply. Runs on the action's worker; raises Refused."""
        replies: queue.SimpleQueue[tuple[Entry, Reply] | Exception] = queue.SimpleQueue()

        def begin() -> None:
            try:
                self._begin(job.request, lambda entry, reply: replies.put((entry, reply)))
            except Exception as error:  # any error is reported to the operator
                replies.put(error)

        self._run(begin)
        try:
            reply = replies.get(timeout=self._patience)
        except queue.Empty:
            why = "nothing answered in time; the events tell if it was done"
            raise Refused(Codes.SCENE_UNAVAILABLE, why) from None
        if isinstance(reply, Exception):
            raise reply
        return _result(*reply)

    def _begin(self, goal: CorrectBelief.Goal, told: Callable[[Entry, Reply], None]) -> None:
        """Start a correction or its undo; `told` is called with the reply. Runs on the world model's thread."""
        if goal.undo:
            self._world.undo(int(goal.undo), self._node.now, told)
            return
        if goal.amendment:
            amendment = replace(amendment_from_msg(goal.amendment[0]), author=OPERATOR)
        else:
            amendment = correction_of(goal.text, int(goal.entity_id), self._around())
        self._world.correct((amendment,), self._node.now, told)


def _result(entry: Entry, reply: Reply) -> CorrectBelief.Result:
    if reply.problem is not None:
        raise Refused(_PROBLEMS[reply.problem], reply.why)
    words = " ".join(entry.words)
    undo = "" if entry.undoes else f" Entry {entry.number}; undo takes it back."
    return CorrectBelief.Result(entry=entry.number, report=f"{words}{undo}")


class DiagnosisDesk:
    """Serves ``~/diagnose``, which explains why an action failed, from the received outcomes of actions."""

    def __init__(self, node: LodestarNode) -> None:
        self._outcomes: OrderedDict[str, ActionOutcome] = OrderedDict()
        ActionWorker(node, Diagnose, "~/diagnose", self._diagnose)

    def take(self, outcome: ActionOutcome) -> None:
        """Store an outcome for later diagnoses."""
        self._outcomes[outcome.trace_id] = outcome
        while len(self._outcomes) > KEPT:
            self._outcomes.popitem(last=False)

    def _diagnose(self, job: Job) -> Diagnose.Result:
        outcomes = list(self._outcomes.values())
        wanted = job.request.trace_id
        if wanted:
            found = next((outcome for outcome in outcomes if outcome.trace_id == wanted), None)
        else:
            found = next((o for o in reversed(outcomes) if o.result is Result.ROLLED_BACK), None)
        if found is None:
            why = f"no outcome of {wanted[:40]!r} was heard" if wanted else "no action has failed"
            raise Refused(Diagnose.Result.UNKNOWN_TRACE, why)
        if found.diagnosis is None:
            why = f"{found.result.value}: nothing was observed to tell why"
            raise Refused(Diagnose.Result.NO_OBSERVATION, why)
        message = outcome_to_msg(found)
        return Diagnose.Result(
            discrepancy=message.discrepancy[0],
            causes=message.causes,
            look=message.look,
            look_at=message.look_at,
            recovery=message.recovery,
            report=message.text,
        )
