"""Commands that the decision loop returns, events of the navigator that it takes, and questions to the user."""

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


@dataclass(frozen=True)
class Choice:
    """One answer. directive: what is then done. excluded: entities that its first step then does not mean.

    entity_id: the entity that it chooses, 0 = it chooses a reading of the words. place: of the entity when it was
    asked about, x, y, z in map, metres; empty = none.
    """

    words: str
    directive: Directive
    excluded: frozenset[int] = frozenset()
    entity_id: int = 0
    place: tuple[float, ...] = ()


@dataclass(frozen=True)
class OpenQuestion:
    """A question to whoever gave the directive; `choices` are counted from 1. asked_at: loop time, seconds."""

    id: str
    text: str
    choices: tuple[Choice, ...]
    asked_at: float


class OpenQuestions:
    """The newest questions; the oldest gives way to a new one.

    prefix: of their ids, such that an id of an earlier process means nothing to this one.
    """

    def __init__(self, config: LoopConfig, prefix: str = "q") -> None:
        self._config, self._prefix = config, prefix
        self._open: OrderedDict[str, OpenQuestion] = OrderedDict()
        self._asked = 0
        # id of the question of the last directive, "" = it asked none, or another has begun
        self._newest = ""

    def ask(self, text: str, choices: tuple[Choice, ...], now: float) -> OpenQuestion:
        """The question, which is open from now on."""
        self._asked += 1
        question = OpenQuestion(f"{self._prefix}-{self._asked}", text, choices, now)
        self._open[question.id] = question
        self._newest = question.id
        while len(self._open) > self._config.open_questions:
            self._open.popitem(last=False)
        return question

    def answered(self, identity: str, choice: int, now: float) -> Choice:
        """The choice, counted from 1; its question stays open until `close`. Raises QuestionUnknown."""
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
        """Return the question that the last directive ended with; None where it is answered or has expired, or where
        another directive has begun since.
        """
        question = self._open.get(self._newest)
        expired = question is not None and now - question.asked_at > self._config.question_patience
        return None if expired else question

    def restart_clock(self) -> None:
        """Time began anew: what was asked before is not open any more, since nobody knows how old it is."""
        self._open.clear()

    def set_aside(self) -> None:
        """A directive begins: a question of before stays open by its id alone."""
        self._newest = ""

    def close(self, identity: str) -> None:
        """The question is answered."""
        self._open.pop(identity, None)


class State(IntEnum):
    """State of the decision loop; the name goes into the heartbeat."""

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
    """State of the navigator's goal, as it reports it."""

    ACCEPTED = "accepted"
    FEEDBACK = "feedback"
    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    REJECTED = "rejected"
    CANCELED = "canceled"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class NavigationEvent:
    """News of a goal. error_code: the navigator's own. distance_remaining: metres by path.

    epoch: of the goal it speaks of, 0 = the newest; news of an older goal is ignored.
    """

    kind: NavigationKind
    error_code: int = 0
    error_msg: str = ""
    distance_remaining: float = float("nan")
    epoch: int = 0


@dataclass(frozen=True)
class RequestProposals:
    """Ask the named experts; each answers with `on_answer`, one that stays silent past the deadline is
    late.
    """

    request: ProposalRequest
    experts: tuple[str, ...]


@dataclass(frozen=True)
class SendGoal:
    """Send the robot to `goal` (3,) x, y, yaw in map; replaces any goal before it. entity_id: 0 = none."""

    epoch: int
    goal: np.ndarray
    entity_id: int = 0
    expert: str = ""
    rationale: str = ""


@dataclass(frozen=True)
class CancelGoal:
    """Stop the navigator, whatever it does."""

    reason: str = ""


@dataclass(frozen=True)
class RecordDecision:
    """Publish and log the decision: once when it is made, once more when its outcome is known."""

    decision: Decision


@dataclass(frozen=True)
class RecordTrace:
    """Publish and log the reasoning behind the goal that is sent with it."""

    trace: Trace


@dataclass(frozen=True)
class RecordOutcome:
    """Tell the world model, and log, what came of an action; a failed one is recorded once per diagnosis."""

    outcome: ActionOutcome


@dataclass(frozen=True)
class EmbedPhrases:
    """Vectors of these phrases are missing from the phrase book; add them when there are any."""

    phrases: tuple[str, ...]


@dataclass(frozen=True)
class LookFor:
    """Have perception look for these words; what it says of them is handed to `on_vocabulary`."""

    wanted: WantedWords


@dataclass(frozen=True)
class AskMemory:
    """Ask the memory; what comes of it is handed to `on_memory` with the ticket. Nothing waits for it."""

    ticket: int
    question: Question


@dataclass(frozen=True)
class RunSkill:
    """Have a user's skill carried out; how it ends is handed to `on_skill` with the ticket. Nothing moves the base
    meanwhile.
    """

    ticket: int
    trace: Trace


@dataclass(frozen=True)
class TakePassage:
    """Take stairs or a lift from a floor (id) toward a level; how it ends is handed to `on_skill` with the ticket.

    trace: of the action, whose goal is the passage's edge, facing into it.
    """

    ticket: int
    trace: Trace
    passage: Passage
    floor: int
    level: int


@dataclass(frozen=True)
class PassageFailed:
    """A passage could not be taken, for this reason."""

    passage: int
    why: str


@dataclass(frozen=True)
class CancelSkill:
    """Stop a skill, whose end is not waited for any more."""

    ticket: int


@dataclass(frozen=True)
class SkillEnd:
    """End of a skill, as told by whoever carried it out. why: of a failure."""

    done: bool
    why: str = ""


@dataclass(frozen=True)
class WithdrawQuery:
    """Withdraw a query to the memory, whose answer is not waited for any more; the work on it may stop."""

    ticket: int


@dataclass(frozen=True)
class DirectiveResult:
    """Outcome of a directive. distance_travelled: metres. duration: seconds. report: for a person.

    answers: of its questions, in their order, with proof and places. searched_share: of the floor that the robot can
    come to, [0, 1], that it looked at during the directive; NaN = unknown. unseen: what it asks for that the detector
    cannot name, in words; "" = nothing.
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
    question: OpenQuestion | None = None  # that the robot asks back
    answers: tuple[Answer, ...] = ()
    searched_share: float = math.nan
    unseen: str = ""


@dataclass(frozen=True)
class Finish:
    """The directive is over."""

    result: DirectiveResult


@dataclass(frozen=True)
class FollowConstraints:
    """Other constraints hold from now on: those that `directive` has."""

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
    """Progress of the directive, with the reason for what the robot does. distances: metres. coverage: m^2 known
    free. goal: (3,) or None. understood: the directive as it was understood. constraint: the constraint state.
    unseen: as of the result.
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
