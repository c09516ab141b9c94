"""The actions of the world model: operators correct beliefs, and ask why an action failed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lodestar.worldmodel.amendment_checks import MalformedAmendment
from lodestar.worldmodel.corrections import (
    OPERATOR,
    NothingMeant,
    NotUnderstood,
    Surroundings,
    correction_of,
)
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.transactions import AlreadyUndone, Entry, NoSuchEntry, Overtaken
from lodestar.worldmodel.world_model import Problem, Reply, WorldModel
from lodestar_interfaces.action import CorrectBelief, Diagnose
from lodestar_interfaces.msg import TraceOutcome
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_world import amendment_from_msg, outcome_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job, action

Codes = CorrectBelief.Result
KEPT = 200  # outcomes that can be asked about
MARGIN = 5.0  # s of real time beyond the write path's patience
_PROBLEMS = {
    Problem.UNAVAILABLE: Codes.SCENE_UNAVAILABLE,
    Problem.UNKNOWN_ENTITY: Codes.UNKNOWN_ENTITY,
    Problem.CONFLICT: Codes.CONFLICT,
    Problem.BAD_REQUEST: Codes.NOT_UNDERSTOOD,
}


class SceneNotHeard(RuntimeError):
    """The scene dictionary has not told its things yet."""

    def __init__(self) -> None:
        super().__init__(
            "the scene has not been heard yet; try again in a few seconds, and see that scene_dictionary runs"
        )


_ERRORS: tuple[tuple[type[Exception], int], ...] = (
    (NotUnderstood, Codes.NOT_UNDERSTOOD),
    (NothingMeant, Codes.UNKNOWN_ENTITY),
    (SceneNotHeard, Codes.SCENE_UNAVAILABLE),
    (NoSuchEntry, Codes.NO_SUCH_ENTRY),
    (AlreadyUndone, Codes.ALREADY_UNDONE),
    (Overtaken, Codes.CONFLICT),
    (BadMessage, Codes.NOT_UNDERSTOOD),
    (MalformedAmendment, Codes.NOT_UNDERSTOOD),
)


class CorrectionDesk:
    """Serves ``~/correct``. run: has work done on the world model's thread. around(): what an operator may mean."""

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
        worker = action(
            node, CorrectBelief, "~/correct", self._correct,
            fail=lambda error: _refused(Codes.UNKNOWN, f"{error.__class__.__name__}: {error}"),
            cancelled=lambda: _refused(Codes.CANCELLED, "cancelled; nothing was changed"),
        )  # fmt: skip
        node.on_close(worker.close)

    def _correct(self, job: Job) -> CorrectBelief.Result:
        """On the action's worker."""
        done = threading.Event()
        results: list[CorrectBelief.Result] = []

        def told(entry: Entry, reply: Reply) -> None:
            results.append(_result(entry, reply))
            done.set()

        def begin() -> None:
            try:
                self._begin(job.request, told)
            except Exception as error:  # whatever it is, the operator is told
                results.append(_result_of(error))
                done.set()

        self._run(begin)
        if not done.wait(self._patience):
            return _refused(
                Codes.SCENE_UNAVAILABLE, "nothing answered in time; the events tell if it was done"
            )
        return results[0]

    def _begin(self, goal: CorrectBelief.Goal, told: Callable[[Entry, Reply], None]) -> None:
        """On the world model's thread."""
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
        return _refused(_PROBLEMS[reply.problem], reply.why)
    words = " ".join(entry.words)
    undo = "" if entry.undoes else f" Entry {entry.number}; undo takes it back."
    return CorrectBelief.Result(entry=entry.number, report=f"{words}{undo}")


def _result_of(error: Exception) -> CorrectBelief.Result:
    code = next((code for kind, code in _ERRORS if isinstance(error, kind)), Codes.UNKNOWN)
    return _refused(code, str(error) if code != Codes.UNKNOWN else f"{error.__class__.__name__}: {error}")


def _refused(code: int, message: str) -> CorrectBelief.Result:
    return CorrectBelief.Result(error_code=code, error_msg=message)


class DiagnosisDesk:
    """Serves ``~/diagnose`` from the outcomes that were heard."""

    def __init__(self, node: LodestarNode) -> None:
        self._outcomes: OrderedDict[str, ActionOutcome] = OrderedDict()
        worker = action(
            node, Diagnose, "~/diagnose", self._diagnose,
            fail=lambda error: _unknown(Diagnose.Result.UNKNOWN, f"{error.__class__.__name__}: {error}"),
            cancelled=lambda: _unknown(Diagnose.Result.CANCELLED, "cancelled"),
        )  # fmt: skip
        node.on_close(worker.close)

    def take(self, outcome: ActionOutcome) -> None:
        """Keep an outcome to be asked about."""
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
            return _unknown(Diagnose.Result.UNKNOWN_TRACE, why)
        if found.diagnosis is None:
            return _unknown(
                Diagnose.Result.NO_OBSERVATION, f"{found.result.value}: nothing was observed to tell why"
            )
        return _diagnosed(outcome_to_msg(found))


def _diagnosed(message: TraceOutcome) -> Diagnose.Result:
    return Diagnose.Result(
        discrepancy=message.discrepancy[0],
        causes=message.causes,
        look=message.look,
        look_at=message.look_at,
        recovery=message.recovery,
        report=message.text,
    )


def _unknown(code: int, message: str) -> Any:
    return Diagnose.Result(error_code=code, error_msg=message)
