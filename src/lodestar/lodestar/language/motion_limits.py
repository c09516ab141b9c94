"""Motion that a directive forbids ("do not move", "stand still") and manners that it asks for ("slowly", "quietly").

Every task here drives, and nothing sets the robot's speed or noise. So a directive with a task may ask the robot to
stand only at its end ("find the mug, then stand still"); any other limit is kept as a `Manner`, which is refused. A
text that asks for nothing but standing is a halt. Words that describe a thing ("the chair that does not move") limit
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.language.clause_starts import begins
from lodestar.language.directive import CannotObey, Directive, Manner
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, tokens_of
from lodestar.language.vocabulary import load_vocabulary

_MARKS = (COMMA, STOP, QUESTION)
_JOINS = (*_MARKS, "and", "or", "but", "while", "whilst", "however")
#: What a limit is replaced by where it is kept: a halt, which the rules know as the end of a task.
_HALT = (STOP, "halt", STOP)
_SEQUENCE = frozenset({"then", "finally", "afterwards", "after"})
_MEANWHILE = frozenset({"while", "whilst", "during", "as"})
_RELATIVE = frozenset({"that", "which", "who", "whose"})
_TAILS = 3  # at most, of one phrase: "do not go anywhere from here at all"
_WHY = {
    "speed": "words do not change how the robot drives; leave it out, and set the speed in the navigator",
    "noise": "words do not change how loud the robot is; leave it out",
    "stand": "every task here drives the robot. Leave it out; to stand at the end, say "
    '", then stand still", and to stop the robot now, say "stand still" alone',
}


@dataclass(frozen=True)
class MotionLimit:
    """One limit in the tokens [start, end). kind: "forbid", "state" or "during" ask the robot to stand, "speed" and
    "noise" are manners.
    """

    start: int
    end: int
    kind: str
    said: str

    @property
    def is_manner(self) -> bool:
        """Whether it is how to move rather than not to move."""
        return self.kind in _WHY


def motion_limits(tokens: Sequence[str]) -> tuple[MotionLimit, ...]:
    """The limits in the tokens of a text, in order; they do not overlap."""
    held, found, i = list(tokens), [], 0
    while i < len(held):
        limit = _standing(held, i) or _manner(held, i)
        if limit is not None:
            found.append(limit)
        i = i + 1 if limit is None else limit.end
    return tuple(found)


def without_limits(tokens: Sequence[str]) -> tuple[list[str], tuple[Manner, ...]]:
    """The tokens with a halt for each request to stand and without manners, and the limits that a task breaks."""
    kept: list[str] = []
    manners, i = [], 0
    for limit in motion_limits(tokens):
        kept += [*tokens[i : limit.start], *(() if limit.is_manner else _HALT)]
        i = limit.end
        if limit.is_manner or not _ends_task(tokens, limit):
            manners.append(Manner(limit.kind if limit.is_manner else "stand", limit.said))
    return [*kept, *tokens[i:]], tuple(manners)


def check_manners(directive: Directive) -> None:
    """Raises CannotObey for a manner of a directive that has steps: nothing here obeys any."""
    for manner in directive.manners:
        raise CannotObey(f'"{manner.said}" cannot be obeyed: {_WHY.get(manner.kind, _WHY["speed"])}')


def check_text(text: str) -> None:
    """As `check_manners`, of the words of a directive that has steps, whoever read them."""
    check_manners(Directive(text, (), manners=without_limits(tokens_of(text))[1]))


def _standing(tokens: list[str], start: int) -> MotionLimit | None:
    """The request to stand that begins at token `start`."""
    vocabulary = load_vocabulary()
    match = vocabulary.match("STANDING", tokens, start)
    if match is None or (start and vocabulary.is_in("DESCRIBED_BY", tokens[start - 1])):
        return None
    end, kind = start + match[0], str(match[1])
    ends = [end]
    while len(ends) <= _TAILS and (tail := vocabulary.match("STANDING_TAIL", tokens, ends[-1])) is not None:
        ends.append(ends[-1] + tail[0])
    for end in reversed(ends):
        if _ends_clause(tokens, end):
            return MotionLimit(start, end, kind, " ".join(tokens[start:end]))
    return None


def _ends_clause(tokens: list[str], i: int) -> bool:
    """Whether nothing follows at token i that a verb before it could be about: "do not move the vase"."""
    if i >= len(tokens) or tokens[i] in _JOINS:
        return True
    matches = load_vocabulary().matches(tokens, i)
    if "MANNER" in matches:
        return False  # "do not drive backwards"
    return not matches.keys().isdisjoint(("STANDING_END", "THEN", "STANDING")) or begins(tokens, i)


def _ends_task(tokens: Sequence[str], limit: MotionLimit) -> bool:
    """Whether the robot stands when it has done what is said before: "..., then stand still", "... and stay there".

    A state that "then" follows is over when the task begins.
    """
    after = tokens[limit.end : limit.end + 3]
    if any(word in _MEANWHILE for word in after[:1]):
        return False
    before = [word for word in tokens[: limit.start] if word not in (*_MARKS, "please", "just")]
    link = tokens[limit.start - 1] if limit.start else ""
    if before[-1:] and (before[-1] in _SEQUENCE or before[-2:] == ["after", "that"]):
        return True
    if limit.kind != "state":
        return False
    if [word for word in after if word not in (*_MARKS, "and")][:1] == ["then"]:
        return True
    joined = link == "and" or (link in _MARKS and limit.said.endswith("there"))
    return joined and bool(before[:-1] or link in _MARKS)


def _manner(tokens: list[str], start: int) -> MotionLimit | None:
    """The manner that is said at token `start`; "the slowly rotating fan" says none of the robot."""
    vocabulary = load_vocabulary()
    match = vocabulary.match("MANNER", tokens, start)
    if match is None:
        return None
    end = start + match[0]
    avoid = vocabulary.match("AVOID", tokens, start)
    near = None if avoid is None else vocabulary.match("GO_NEAR", tokens, start + avoid[0])
    if avoid is not None and near is not None and avoid[0] + near[0] > match[0]:
        return None  # "do not run into the chair"
    if start and vocabulary.match("DET", tokens, start - 1) == (1, tokens[start - 1]):
        return None
    if end < len(tokens) and tokens[end].endswith(("ing", "ed")) and not begins(tokens, end):
        return None
    clause = start
    while clause and tokens[clause - 1] not in _JOINS:
        clause -= 1
    if not _RELATIVE.isdisjoint(tokens[clause:start]):
        return None  # "the fan that turns slowly"
    return MotionLimit(start, end, str(match[1]), " ".join(tokens[start:end]))
