"""Motion that a directive forbids ("do not move", "stand still") and manners that it asks for ("slowly", "quietly").

Every task here drives, and nothing sets the robot's speed or noise. So a directive with a task may ask the robot to
stand only at its end ("find the mug, then stand still"); any other limit is refused. A text that asks for nothing
but standing is a halt. Words that describe a thing ("the chair that does not move") limit nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.language.directive import CannotObey
from lodestar.language.words import SEPARATOR, GrammarWords, load_words, tokenise

#: What a limit is replaced by where it is kept: a halt, which the grammar knows as the end of a task.
_HALT = ("stop", SEPARATOR)
_SEQUENCE = frozenset({"then", "finally", "afterwards", "after"})
_MEANWHILE = frozenset({"while", "whilst", "during", "as"})
_RELATIVE = frozenset({"that", "which", "who", "whose"})
_TAILS = 3  # at most, of one phrase: "do not go anywhere from here at all"
_WHY = {
    "speed": "nothing here changes how the robot drives, the navigator does; leave it out, or set the speed there",
    "noise": "nothing here changes how loud the robot is; leave it out",
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
    words, held, found, i = load_words(), list(tokens), [], 0
    while i < len(held):
        limit = _standing(words, held, i) or _manner(words, held, i)
        if limit is not None:
            found.append(limit)
        i = i + 1 if limit is None else limit.end
    return tuple(found)


def tokens_without_limits(tokens: Sequence[str]) -> list[str]:
    """The tokens with a halt in place of each request to stand, and without manners."""
    kept, i = [], 0
    for limit in motion_limits(tokens):
        kept += [*tokens[i : limit.start], *(() if limit.is_manner else _HALT)]
        i = limit.end
    return [*kept, *tokens[i:]]


def check_motion_limits(tokens: Sequence[str]) -> None:
    """Raises CannotObey for a limit that a directive with a task breaks. tokens: of that directive's text."""
    for limit in motion_limits(tokens):
        if limit.is_manner:
            raise CannotObey(f'"{limit.said}" cannot be obeyed: {_WHY[limit.kind]}')
        if not _ends_task(tokens, limit):
            raise CannotObey(
                f'"{limit.said}" cannot be obeyed: every task here drives, and nothing can search, explore, list or '
                f'come back standing still. Leave it out; for the end of the task say ", then stand still"; alone, '
                '"stand still" stops the robot'
            )


def check_text(text: str) -> None:
    """As `check_motion_limits`, of the words of a directive that has steps, whoever read them."""
    check_motion_limits(tokenise(text))


def _standing(words: GrammarWords, tokens: list[str], start: int) -> MotionLimit | None:
    """The request to stand that begins at token `start`."""
    match = words.standing.match(tokens, start)
    if match is None or (start and tokens[start - 1] in words.described_by):
        return None
    end, kind = start + match[0], match[1]
    ends = [end]
    while len(ends) <= _TAILS and (tail := words.standing_tails.match(tokens, ends[-1])) is not None:
        ends.append(ends[-1] + tail[0])
    for end in reversed(ends):
        if _ends_clause(words, tokens, end):
            return MotionLimit(start, end, kind, " ".join(tokens[start:end]))
    return None


def _ends_clause(words: GrammarWords, tokens: list[str], i: int) -> bool:
    """Whether nothing follows at token i that a verb before it could be about: "do not move the vase"."""
    if i >= len(tokens) or tokens[i] in (SEPARATOR, *words.conjunctions, *words.constraint_links):
        return True
    tables = (words.standing_ends, words.then, words.verbs, words.standing)
    return any(table.match(tokens, i) is not None for table in tables)


def _ends_task(tokens: Sequence[str], limit: MotionLimit) -> bool:
    """Whether the robot stands when it has done what is said before: "..., then stand still", "... and stay there".

    A state that "then" follows is over when the task begins.
    """
    after = tokens[limit.end : limit.end + 3]
    if any(word in _MEANWHILE for word in after[:1]):
        return False
    before = [word for word in tokens[: limit.start] if word not in (SEPARATOR, "please", "just")]
    link = tokens[limit.start - 1] if limit.start else ""
    if before[-1:] and (before[-1] in _SEQUENCE or before[-2:] == ["after", "that"]):
        return True
    if limit.kind != "state":
        return False
    if [word for word in after if word not in (SEPARATOR, "and")][:1] == ["then"]:
        return True
    joined = link == "and" or (link == SEPARATOR and limit.said.endswith("there"))
    return joined and bool(before[:-1] or link == SEPARATOR)


def _manner(words: GrammarWords, tokens: list[str], start: int) -> MotionLimit | None:
    """The manner that is said at token `start`; "the slowly rotating fan" says none of the robot."""
    match = words.manners.match(tokens, start)
    if match is None:
        return None
    end = start + match[0]
    verb = words.verbs.match(tokens, start)
    if verb is not None and verb[0] > match[0]:
        return None  # "do not run into the chair"
    if start and words.determiners.match(tokens, start - 1) == (1, tokens[start - 1]):
        return None
    if end < len(tokens) and tokens[end].endswith(("ing", "ed")) and words.verbs.match(tokens, end) is None:
        return None
    clause = start
    while clause and tokens[clause - 1] not in (SEPARATOR, *words.conjunctions, *words.constraint_links):
        clause -= 1
    if not _RELATIVE.isdisjoint(tokens[clause:start]):
        return None  # "the fan that turns slowly"
    return MotionLimit(start, end, match[1], " ".join(tokens[start:end]))
