"""Motion that a directive forbids ("do not move", "stand still") and manners that it asks for ("slowly",
"quietly").

Every task drives, and nothing sets the robot's speed or noise. So a directive with a task may ask the robot
to stand only at its end ("find the mug, then stand still"); any other limit is kept as a `Manner`, which is
refused. A text that asks only for standing is a halt. Words that describe an object ("the chair that does not
move") limit nothing.
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
#: Tokens that replace a request to stand: a halt, which the rules read as the end of a task.
_HALT = (STOP, "halt", STOP)
_SEQUENCE = frozenset({"then", "finally", "afterwards", "after"})
_MEANWHILE = frozenset({"while", "whilst", "during", "as"})
_RELATIVE = frozenset({"that", "which", "who", "whose"})
_TAILS = 3  # most tail phrases: "do not go anywhere from here at all"
_WHY = {
    "speed": "words do not change how the robot drives; leave it out, and set the speed in the navigator",
    "noise": "words do not change how loud the robot is; leave it out",
    "stand": "every task here drives the robot. Leave it out; to stand at the end, say "
    '", then stand still", and to stop the robot now, say "stand still" alone',
}
_WHY_NOT = "words do not change how the robot moves; leave it out"  # for any other manner


@dataclass(frozen=True)
class MotionLimit:
    """One limit on motion, said in the tokens [start, end). kind: "forbid", "state" and "during" ask the
    robot to stand still; "speed" and "noise" ask for a manner of moving.
    """

    start: int
    end: int
    kind: str
    said: str

    @property
    def is_manner(self) -> bool:
        """Return whether the limit is a manner of moving rather than a request to stand."""
        return self.kind in _WHY


def motion_limits(tokens: Sequence[str]) -> tuple[MotionLimit, ...]:
    """Return the limits in the tokens of a text, in order, without overlaps."""
    held, found, i = list(tokens), [], 0
    while i < len(held):
        limit = standing_at(held, i) or _manner(held, i)
        if limit is not None:
            found.append(limit)
        i = i + 1 if limit is None else limit.end
    return tuple(found)


def without_limits(tokens: Sequence[str]) -> tuple[list[str], tuple[Manner, ...]]:
    """Return the tokens without their limits on motion, and the limits that the robot cannot follow.

    In the tokens, manners of moving are removed and requests to stand are replaced by a halt.
    """
    kept: list[str] = []
    manners, i = [], 0
    for limit in motion_limits(tokens):
        kept += [*tokens[i : limit.start], *(() if limit.is_manner else _HALT)]
        i = limit.end
        if limit.is_manner or not _ends_task(tokens, limit):
            manners.append(Manner(limit.kind if limit.is_manner else "stand", limit.said))
    return [*kept, *tokens[i:]], tuple(manners)


def check_manners(directive: Directive) -> None:
    """Raise CannotObey if the directive has manners: the robot can follow none."""
    for manner in directive.manners:
        raise CannotObey(f'"{manner.said}" cannot be obeyed: {_WHY.get(manner.kind, _WHY_NOT)}')


def manner_of(said: str) -> Manner:
    """Return the manner that a phrase asks for, of the kind "other" if the grammar does not know it."""
    known = without_limits(tokens_of(said))[1]
    return Manner(known[0].kind if known else "other", said)


def check_text(text: str) -> None:
    """Raise CannotObey if the text of a directive with steps contains manners."""
    check_manners(Directive(text, (), manners=without_limits(tokens_of(text))[1]))


def standing_at(tokens: list[str], start: int) -> MotionLimit | None:
    """Return the request to stand that begins at token `start`, or None."""
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
    """Return whether the clause ends at token i, so that a verb before it has no object (unlike "do not move
    the vase").
    """
    if i >= len(tokens) or tokens[i] in _JOINS:
        return True
    matches = load_vocabulary().matches(tokens, i)
    if "MANNER" in matches:
        return False  # "do not drive backwards" forbids a manner only
    return not matches.keys().isdisjoint(("STANDING_END", "THEN", "STANDING")) or begins(tokens, i)


def _ends_task(tokens: Sequence[str], limit: MotionLimit) -> bool:
    """Return whether the limit asks the robot to stand only after its task, as in "..., then stand still".

    A limit of kind "state" before "then" also counts: it ends when the task begins.
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
    """Return the manner at token `start`; None for words about an object, such as "the slowly rotating fan"."""
    vocabulary = load_vocabulary()
    match = vocabulary.match("MANNER", tokens, start)
    if match is None:
        return None
    end = start + match[0]
    avoid = vocabulary.match("AVOID", tokens, start)
    near = None if avoid is None else vocabulary.match("GO_NEAR", tokens, start + avoid[0])
    if avoid is not None and near is not None and avoid[0] + near[0] > match[0]:
        return None  # "do not run into the chair" is a ban
    if start and vocabulary.match("DET", tokens, start - 1) == (1, tokens[start - 1]):
        return None
    if end < len(tokens) and tokens[end].endswith(("ing", "ed")) and not begins(tokens, end):
        return None
    clause = start
    while clause and tokens[clause - 1] not in _JOINS:
        clause -= 1
    if not _RELATIVE.isdisjoint(tokens[clause:start]):
        return None  # "the fan that turns slowly" describes an object
    return MotionLimit(start, end, str(match[1]), " ".join(tokens[start:end]))
