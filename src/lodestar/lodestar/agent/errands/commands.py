"""Commands that the decision loop returns, events of the navigator that it receives, and questions to the user."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, IntEnum

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode, QuestionUnknown
from lodestar.experts.protocol import ProposalRequest
from lodestar.floors.records import Passage
from lodestar.language.directive import Directive
from lodestar.language.question import Question
from lodestar.memory.answer import Answer
from lodestar.perception.lookout import WantedWords
from lodestar.selection.decisions import Decision
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace

LOOP_OPEN_QUESTIONS = 16  # questions open at once; the oldest gives way (ours)


@dataclass(frozen=True)
class Choice:
    """One possible answer to a question. directive: carried out if the answer is chosen. excluded: entities
    that its first step must not accept as the target.

    entity_id: the chosen entity, 0 = the answer chooses a reading of the sentence. place: (x, y, z) of the
    entity in map when the question was asked, metres; () = none.
    """

    words: str
    directive: Directive
    excluded: frozenset[int] = frozenset()
    entity_id: int = 0
    place: tuple[float, ...] = ()


@dataclass(frozen=True)
class OpenQuestion:
    """A question to the user who gave the directive; `choices` are counted from 1. asked_at: loop time, seconds."""

    id: str
    text: str
    choices: tuple[Choice, ...]
    asked_at: float


class OpenQuestions:
    """The newest questions to the user; a new one replaces the oldest.

    prefix: begin of their ids. It is unique to this process, so that ids of an earlier process are not valid
    here.
    """

    def __init__(self, config: LoopConfig, prefix: str = "q") -> None:
        self._config, self._prefix = config, prefix
        self._open: OrderedDict[str, OpenQuestion] = OrderedDict()
        self._asked = 0
        # id of the last directive's question; "" = it asked none, or another directive has begun
        self._newest = ""

    def ask(self, text: str, choices: tuple[Choice, ...], now: float) -> OpenQuestion:
        """Open a question and return it."""
        self._asked += 1
        question = OpenQuestion(f"{self._prefix}-{self._asked}", text, choices, now)
        self._open[question.id] = question
        self._newest = question.id
        while len(self._open) > LOOP_OPEN_QUESTIONS:
            self._open.popitem(last=False)
        return question

    def answered(self, identity: str, choice: int, now: float) -> Choice:
        """Return the choice with this number, counted from 1, of an open question; the question stays open
        until `close`. Raises QuestionUnknown.
        """
        question = self._open.get(identity)
        if question is None:
            raise QuestionUnknown(f'no question "{identity[:40]}" is open; say anew what to do')
        age = now - question.asked_at
        if age > self._config.question_patience:
            del self._open[identity]
            raise QuestionUnknown(
                f"the question was asked {age:.0f} s ago, and what it was about may have changed; say anew what to do"
            )
        if not 1 <= choice <= len(question.choices):
            raise QuestionUnknown(f"{choice} is none of the choices 1 to {len(question.choices)}")
        return question.choices[choice - 1]

    def newest(self, now: float) -> OpenQuestion | None:
        """Return the question that the last directive ended with; None if it is answered, expired, or another
        directive has begun.
        """
        question = self._open.get(self._newest)
        expired = question is not None and now - question.asked_at > self._config.question_patience
        return None if expired else question

    def restart_clock(self) -> None:
        """Close all questions: the clock restarted, so their age is unknown."""
        self._open.clear()

    def set_aside(self) -> None:
        """Let `newest` return None, because a directive begins. Open questions can still be answered by their
        ids.
        """
        self._newest = ""

    def close(self, identity: str) -> None:
        """Close the question with this id."""
        self._open.pop(identity, None)


class State(IntEnum):
    """State of the decision loop; the name is part of the heartbeat."""

    IDLE = 0
    DECIDING = 1
    VALIDATING = 2
    NAVIGATING = 3
    VERIFYING = 4
    HELD = 5
    WAITING = 6
    DIAGNOSING = 7
    CROSSING = 8


class NavigationKind(Enum):
    """State of the navigator's goal, as reported by the navigator."""

    ACCEPTED = "accepted"
    FEEDBACK = "feedback"
    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    REJECTED = "rejected"
    CANCELED = "canceled"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class NavigationEvent:
    """Report of the navigator on a goal. error_code: the navigator's own code. distance_remaining: metres by
    path.

    epoch: of the goal, 0 = the newest; reports on an older goal are ignored.
    """

    kind: NavigationKind
    error_code: int = 0
    error_msg: str = ""
    distance_remaining: float = float("nan")
    epoch: int = 0


@dataclass(frozen=True)
class RequestProposals:
    """Ask the named experts for proposals; answers arrive by `on_answer`, and are late after the deadline."""

    request: ProposalRequest
    experts: tuple[str, ...]


@dataclass(frozen=True)
class SendGoal:
    """Send the robot to `goal` (3,) x, y, yaw in map, replacing any earlier goal. entity_id: 0 = none."""

    epoch: int
    goal: np.ndarray
    entity_id: int = 0
    expert: str = ""
    rationale: str = ""


@dataclass(frozen=True)
class CancelGoal:
    """Stop the navigator, whether or not it has a goal."""

    reason: str = ""


@dataclass(frozen=True)
class RecordDecision:
    """Publish and log the decision: once when it is made, and again when its outcome is known."""

    decision: Decision


@dataclass(frozen=True)
class RecordTrace:
    """Publish and log the trace (reasoning and expected result) of a goal that is sent."""

    trace: Trace


@dataclass(frozen=True)
class RecordOutcome:
    """Publish the outcome of an action to the world model and log it; a failure is recorded once per diagnosis."""

    outcome: ActionOutcome


@dataclass(frozen=True)
class EmbedPhrases:
    """Embed these phrases, which the cache of phrase vectors lacks, and add their vectors to it."""

    phrases: tuple[str, ...]


@dataclass(frozen=True)
class LookFor:
    """Have perception detect these words; its report on them goes to `on_vocabulary`."""

    wanted: WantedWords


@dataclass(frozen=True)
class AskMemory:
    """Query the memory; the outcome goes to `on_memory` with the ticket. The loop does not wait for it."""

    ticket: int
    question: Question


@dataclass(frozen=True)
class RunSkill:
    """Run a user-defined skill; its end goes to `on_skill` with the ticket. Nothing else moves the base meanwhile."""

    ticket: int
    trace: Trace


@dataclass(frozen=True)
class TakePassage:
    """Take stairs or a lift from a floor (id) toward a level; the end goes to `on_skill` with the ticket.

    trace: of the action; its goal is the passage's entry, facing into the passage.
    """

    ticket: int
    trace: Trace
    passage: Passage
    floor: int
    level: int


#: Commands that begin something; none of them is carried out after a stop.
Begin = RequestProposals | SendGoal | RunSkill | TakePassage


@dataclass(frozen=True)
class PassageFailed:
    """Report that a passage could not be taken, and why."""

    passage: int
    why: str


@dataclass(frozen=True)
class CancelSkill:
    """Stop a skill, without waiting for its end."""

    ticket: int


@dataclass(frozen=True)
class SkillEnd:
    """End of a skill, as reported by its executor. why: the reason for a failure."""

    done: bool
    why: str = ""


@dataclass(frozen=True)
class WithdrawQuery:
    """Withdraw a query to the memory without waiting for its answer; the work on it may stop."""

    ticket: int


@dataclass(frozen=True)
class DirectiveResult:
    """Outcome of a directive. distance_travelled: metres. duration: seconds. report: for a person.

    answers: to its questions, in order, with proofs and places. searched_share: share of the reachable floor that was
    observed during the directive, [0, 1]; NaN = unknown. unseen: requested objects that the detector cannot name, as
    a sentence; "" = none.
    """

    error_code: ErrorCode
    error_msg: str
    success: bool
    entity_ids: tuple[int, ...] = ()
    nearest_matches: tuple[int, ...] = ()
    epochs: int = 0
    distance_travelled: float = 0.0
    duration: float = 0.0
    report: str = ""
    final_pose: np.ndarray | None = None  # (3,)
    question: OpenQuestion | None = None  # asked back to the user
    answers: tuple[Answer, ...] = ()
    searched_share: float = math.nan
    unseen: str = ""


@dataclass(frozen=True)
class Finish:
    """End the directive and publish its result."""

    result: DirectiveResult


@dataclass(frozen=True)
class FollowConstraints:
    """Apply the constraints of `directive` from now on."""

    directive: Directive


Command = (
    RequestProposals
    | SendGoal
    | CancelGoal
    | RecordDecision
    | RecordTrace
    | RecordOutcome
    | EmbedPhrases
    | LookFor
    | AskMemory
    | WithdrawQuery
    | RunSkill
    | TakePassage
    | PassageFailed
    | CancelSkill
    | FollowConstraints
    | Finish
)


@dataclass(frozen=True)
class Feedback:
    """Progress of the directive, with the reason for the current action. distances: metres. coverage: m^2
    known free. goal: (3,) or None. understood: the directive as parsed, as a sentence. constraint: state of
    the directive's constraints. unseen: as in the result.
    """

    phase: str
    expert: str
    subtask: int
    epoch: int
    distance_remaining: float
    distance_travelled: float
    coverage: float
    goal: np.ndarray | None
    text: str
    understood: str = ""
    constraint: str = ""
    unseen: str = ""
