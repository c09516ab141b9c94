"""Recognition of texts that stop a moving robot, by rule alone, before any parser sees them.

A stop word ("stop", "halt") halts the robot unless the text says otherwise: the word names a thing ("the bus
stop"), is negated ("don't stop"), waits for a place or an event ("stop at the door", "until I say stop"), or
ends a task ("go to the desk and stop"). Other words around it are ignored. In doubt the robot halts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from lodestar.language.clause_starts import bans, begins
from lodestar.language.directive_errors import StopRequested
from lodestar.language.lattice import VERBS
from lodestar.language.motion_limits import standing_at
from lodestar.language.refusal_reasons import HALT_ALONE
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, tokens_of
from lodestar.language.spelling import corrected, distance, is_known
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_MARKS = (COMMA, STOP, QUESTION)
_JOINS = ("and", "then", "but")
_STOPS = ("STANDING", "STOP_THING", "STOP_WORD", "STOP_PHRASE", "STOP_BARE", "STOP_LONE", "HALT_ABROAD")
_SAYS = ("WORD", "MEASURE")  # kinds of parts that belong to a request or statement
_ASIDES = ("STOP_AT_ONCE", "STOP_THERE", "STOP_ASIDE", "POLITE", "POLITE_ABROAD")
_LONGEST = 2000  # characters; of a longer text only the beginning and the end are read
_SHORT = 6  # words; stop words are completed and corrected in texts up to this length
_LEAST_OF_A_WORD = 3  # fewest letters of a word that is completed or corrected
_MOST_BEFORE = 4  # most words before a stop that can negate it or make it part of a statement
_LEAST_OF_A_SAYING = 3  # fewest words of an aside that is a clause of its own: "i told you to"
_STAYS = ("STOP_WHERE", "STOP_WHEN", "STOP_STAYS")  # words that make "wait" an order: "wait for me"
_LEADS = ("REL", "TO_BARE", "FROM", "THROUGH", "STOP_WHEN")  # tables of words before the verb of a clause
_HELD = re.compile(r"([^\W\d_])\1{2,}", re.IGNORECASE)  # "stoooop"
_SPELLED = re.compile(r"\b(?:[^\W\d_][ .-]){3,}[^\W\d_]\b")  # "S.T.O.P"


@dataclass(frozen=True)
class Stop:
    """A recognised request to stop. rest: the text after it, which is still to be parsed, "" = none."""

    rest: str = ""


def heard_stop(text: str) -> Stop | None:
    """Return the immediate stop that a text requests, None if it requests none."""
    is_cut = len(text) > _LONGEST
    tokens = _words(f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}" if is_cut else text)
    rest = _rest_after_stop(tokens)
    if rest is None and len(tokens) <= _SHORT and not begins(tokens, 0):
        rest = _rest_after_stop(_corrected(tokens))
    return None if rest is None else Stop("" if is_cut else _end_of(text, rest))


def without_stop(text: str) -> str:
    """Return the text after an immediate stop, or the whole text if it requests none.

    Raises StopRequested if nothing remains.
    """
    stop = heard_stop(text)
    if stop is not None and not stop.rest:
        raise StopRequested(HALT_ALONE)
    return text if stop is None else stop.rest


def _words(text: str) -> list[str]:
    """Return the tokens of a text: "stoooop" and "S.T.O.P" become "stop", "st-stop" becomes "st stop"."""
    text = _SPELLED.sub(lambda match: re.sub(r"\W", "", match[0]), _HELD.sub(r"\1", text))
    return [part for token in tokens_of(text) for part in token.split("-") if part]


def _corrected(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with mistyped, glued and cut-off stop words corrected."""
    stops = [word for word in load_vocabulary().phrases("STOP_WORD") if word.isascii() and " " not in word]
    pairs = zip(tokens, corrected(tokens), strict=True)
    found = [part for word, near in pairs for part in ([near] if near in stops else _mended(word, stops))]
    last = found[-1] if found else ""
    if len(last) >= _LEAST_OF_A_WORD and not is_known(last):
        found[-1] = next((stop for stop in stops if stop.startswith(last)), last)
    return found


def _mended(word: str, stops: Sequence[str]) -> list[str]:
    """Return the stop words for which an unknown word probably stands, or else the word itself."""
    is_read = word.isascii() and word.isalpha() and len(word) >= _LEAST_OF_A_WORD
    if not is_read or word in load_vocabulary().words or load_wordnet().is_noun(word):
        return [word]
    ends = (*stops, *load_vocabulary().phrases("STOP_GLUED"))
    for stop in (*stops, "wait") if len(word) > _LEAST_OF_A_WORD else ("stop", "hold"):
        if word.startswith(stop) and word.removeprefix(stop) in ends:
            return [stop, word.removeprefix(stop)]
        is_meant = stop[0] == word[0] and distance(word, stop) == 1
        if is_meant and (sorted(word) == sorted(stop) or not is_known(word)):
            return [stop]  # "sotp" is known, as "sot" with an ending
    return [word]


def _end_of(text: str, tokens: Sequence[str]) -> str:
    """Return the shortest end of the text that has these tokens, or the tokens themselves as text."""
    words = text.split() if tokens else []
    ends = (" ".join(words[i:]) for i in reversed(range(len(words))))
    return next((end for end in ends if _words(end) == tokens), " ".join(tokens))


@dataclass(frozen=True)
class _Part:
    """A phrase at words [start, end) of the text.

    kind: a table of stop words, "ASIDE", "HERE", "MEASURE", "MARK", "JOIN" or "WORD". tables: word tables
    with a phrase that begins at `start`.
    """

    kind: str
    start: int
    end: int
    tables: Set[str]


def _parts(tokens: list[str]) -> list[_Part]:
    """Return the parts into which the words are split, in order."""
    parts: list[_Part] = []
    while (i := parts[-1].end if parts else 0) < len(tokens):
        matches = {table: match[0] for table, match in load_vocabulary().matches(tokens, i).items()}
        limit = standing_at(tokens, i)
        matches["STANDING"] = 0 if limit is None or limit.kind == "during" else limit.end - i
        length, kind = max((matches.get(table, 0), table) for table in _STOPS)
        if not length and tokens[i] in (*_MARKS, *_JOINS):
            length, kind = 1, "MARK" if tokens[i] in _MARKS else "JOIN"
        elif not length and (length := _measured(tokens, i)):
            kind = "MEASURE"
        elif not length:
            length = max(matches.get(table, 0) for table in _ASIDES) or int(_is_half(tokens[i : i + 2]))
            is_here = length in (matches.get("STOP_AT_ONCE"), matches.get("STOP_THERE"))
            kind = "HERE" if length and is_here else "ASIDE" if length else "WORD"
        parts.append(_Part(kind, i, i + max(length, 1), matches.keys()))
    return parts


def _measured(tokens: Sequence[str], i: int) -> int:
    """Return the number of words of a length or time that begins at i: "two feet", "for 10 seconds"."""
    vocabulary, begins = load_vocabulary(), tokens[i] in ("for", "about")
    number = vocabulary.match("NUMBER", tokens, i + begins) or (1, None)
    first, end = tokens[i + begins : i + begins + 1], i + begins + number[0]
    counts = number[1] is not None or first in (["a"], ["an"]) or (bool(first) and first[0][:1].isdigit())
    units = vocabulary.matches(tokens, end).keys() if counts else set()
    return 0 if {"METRES", "SECONDS"}.isdisjoint(units) else end + 1 - i


def _is_half(words: Sequence[str]) -> bool:
    """Return whether the first of two words is a stutter, such as "st" in "st stop".

    A stutter is a single letter or the beginning of the second word.
    """
    is_letter = len(words[0]) == 1 and words[0] not in ("a", "i")
    return words[0].isalpha() and (is_letter or (len(words) > 1 and words[1].startswith(words[0])))


def _rest_after_stop(tokens: list[str]) -> list[str] | None:
    """Return the words to be parsed after the first immediate stop, None if there is no such stop."""
    parts = _parts(tokens)
    told = later = False  # told: a statement precedes; later: an event to wait for precedes
    for n, part in enumerate(parts):
        urgent = part.kind in _STOPS and _is_urgent(tokens, parts, n)
        free = part.kind in _STOPS and (urgent or not later) and not _is_bound(tokens, parts, n, told, urgent)
        free = free and (urgent or not _is_step(tokens, parts, n))
        if free and _is_now(tokens, parts, n, told):
            return tokens[_order_after(tokens, parts, n) :]
        later = later or (part.kind == "WORD" and "STOP_LATER" in part.tables)
        later = later and tokens[part.start] not in (STOP, QUESTION)
        told = told or part.kind in (*_SAYS, *_STOPS)
    return None


def _is_urgent(tokens: Sequence[str], parts: Sequence[_Part], n: int) -> bool:
    """Return whether "now" or the like follows the stop.

    Such a stop is immediate regardless of the words before it.
    """
    is_now = False
    while (n := n + 1) < len(parts) and (parts[n].kind in ("ASIDE", "HERE") or _is_object(tokens, parts[n])):
        is_now = is_now or "STOP_NOW" in parts[n].tables
    return is_now and (n == len(parts) or parts[n].tables.isdisjoint(("STOP_WHEN", "STOP_WHERE")))


def _is_bound(tokens: Sequence[str], parts: Sequence[_Part], n: int, told: bool, is_urgent: bool) -> bool:
    """Return whether the words around a stop negate it, name it, or make it part of another statement.

    Examples are "don't stop", "the stop" and "people stop here". n: index of the stop in `parts`. told: other
    words precede it. is_urgent: see `_is_urgent`.
    """
    vocabulary, first, last = load_vocabulary(), parts[n].start, parts[n].end - 1
    starts = range(max(first - _MOST_BEFORE, 0), first)
    tied = told and not any(vocabulary.is_in("STOP_UNTIED", *tokens[i:first]) for i in starts)
    tables = ["STOP_DENIED", *([] if is_urgent else ["STOP_ASKED", "STOP_TIED"][: 1 + tied])]
    if vocabulary.is_in("STOP_HABIT", *tokens[:first]) and tokens[last + 1 :] == ["here"]:
        return True  # "people stop here"
    banned = vocabulary.match("AVOID", tokens, first) or (len(tokens), None)
    if parts[n].kind == "STOP_BARE" and bans(tokens, first) and banned[0] > last - first:
        return True  # "stay out of the kitchen", but not "watch out for kids"
    is_noun = parts[n].kind == "STOP_WORD" and n > 0 and parts[n - 1].start == first - 1
    if is_noun and not _is_half(tokens[first - 1 : first + 1]):
        tables.append("STOP_NAMED")
    before = parts[n - 1] if n else parts[n]
    if "STOP_ASIDE" in before.tables and before.end - before.start >= _LEAST_OF_A_SAYING:
        # "can you not just stop" denies nothing
        tables = [] if "not" in tokens[before.start : before.end] else ["STOP_DENIED"]
    if any(vocabulary.is_in(table, *tokens[i:first]) for table in tables for i in starts):
        return True
    return vocabulary.match("STOP_THING", tokens, last) is not None


def _is_now(tokens: Sequence[str], parts: Sequence[_Part], n: int, told: bool) -> bool:
    """Return whether a stop is immediate, by its kind and the words after it.

    n: index of the stop in `parts`. told: other words precede it.
    """
    stop, is_first, between = parts[n], not told or parts[n - 1].kind == "MARK", set()
    while (n := n + 1) < len(parts) and _is_beside(tokens, parts[n]):
        between.add("THERE" if "STOP_THERE" in parts[n].tables else parts[n].kind)
    is_bare = n == len(parts) or parts[n].kind in ("MARK", "JOIN", *_STOPS)
    is_joined = told or (stop.start > 0 and tokens[stop.start - 1] in _JOINS)
    if is_joined and is_bare and "THERE" in between and parts[n - 1].kind == "HERE":
        return False  # "find the red chair, stop there"
    match stop.kind:
        case "STOP_THING":
            return False
        case "STANDING" | "STOP_LONE":
            ends = stop.end == len(tokens) or tokens[stop.end] in _MARKS or _is_choice(tokens, stop.end)
            return not told and (ends or stop.kind == "STANDING")
        case "STOP_BARE":
            follows = set() if is_bare else parts[n].tables
            is_cry = "STOP_ASKS" in follows or follows.isdisjoint(_STAYS)
            cries = is_cry and "STOP_CRY" in stop.tables and "MEASURE" not in between
            return not told and (is_bare or cries or "UNTIL" in follows)
        case "HALT_ABROAD":
            return is_first and is_bare
        case "STOP_PHRASE" if not is_first:
            return is_bare
    return is_bare or bool(between & {"HERE", "THERE"}) or not _waits(tokens, parts, n, "MEASURE" in between)


def _waits(tokens: Sequence[str], parts: Sequence[_Part], n: int, is_measured: bool) -> bool:
    """Return whether the words from part n on name a place or an event at which the robot is to stop."""
    part, following = parts[n], tokens[parts[n].end : parts[n].end + 1]
    if _is_object(tokens, part):
        return any("STOP_WHEN" in part.tables for part in parts[n : _clause_end(tokens, parts, n)])
    if tokens[part.start] == "before" and load_vocabulary().is_in("STOP_REMARK", *following):
        return False  # "stop before you fall"
    if "STOP_ASKS" in part.tables or load_vocabulary().is_in("STOP_SEEN", tokens[part.start - 1]):
        return False  # "stop where are you", "stop dog on the left"
    names = is_measured or (bool(following) and following[0] not in _MARKS)
    return names and not part.tables.isdisjoint(("STOP_WHERE", "STOP_WHEN"))


def _is_beside(tokens: Sequence[str], part: _Part) -> bool:
    """Return whether a part is an aside, a word such as "there" or "now", or a measure.

    An aside that begins a remark, such as "i need to", does not count.
    """
    words = tokens[part.start : part.end]
    is_remark = len(words) > 1 and load_vocabulary().is_in("STOP_REMARK", *words)
    return part.kind in ("ASIDE", "HERE", "MEASURE") and not is_remark


def _is_step(tokens: Sequence[str], parts: Sequence[_Part], n: int) -> bool:
    """Return whether a wait stands between two orders, as in "go to the hall, wait a minute, and come back"."""
    first = next((part.start for part in parts if part.kind == "WORD"), len(tokens))
    if tokens[parts[n].start : parts[n].start + 2] != ["wait", "a"] or not first < parts[n].start:
        return False
    n += 1 + (parts[n + 1 : n + 2] != [] and parts[n + 1].kind == "MARK")
    joined = [part for part in parts[n + 1 :] if part.kind not in ("ASIDE", "JOIN")]
    if not begins(tokens, first) or n >= len(parts) or parts[n].kind != "JOIN" or not joined:
        return False
    is_said = "STOP_REMARK" in joined[0].tables or bans(tokens, joined[0].start)
    return not is_said and _is_order(tokens, joined[0], is_direct=False)


def _is_choice(tokens: Sequence[str], i: int) -> bool:
    """Return whether the words at i refer to another object of the same kind: "the other one"."""
    return tokens[i] == "the" and any(load_vocabulary().is_in("SAME", word) for word in tokens[i + 1 : i + 4])


def _is_object(tokens: Sequence[str], part: _Part) -> bool:
    """Return whether a part names the act or object to be stopped: "stop moving", "stop the search"."""
    return tokens[part.start].endswith("ing") or not part.tables.isdisjoint(("DET", "IT"))


def _clause_end(tokens: Sequence[str], parts: Sequence[_Part], n: int, is_remark: bool = False) -> int:
    """Return the index of the part at which the clause of part n ends.

    That part is a mark, a conjunction or, unless `is_remark`, an order; len(parts) if there is none.
    """
    while (n := n + 1) < len(parts) and parts[n].kind not in ("MARK", "JOIN"):
        before = tokens[parts[n].start - 1]
        is_said_of = load_vocabulary().is_in("STOP_SAID", before) or before[-1:] == "s" != before[-2:-1]
        if "STRONG" in parts[n].tables and "DET" not in parts[n - 1].tables and not (is_said_of or is_remark):
            break
    return n


def _is_order(tokens: Sequence[str], part: _Part, is_direct: bool) -> bool:
    """Return whether an order begins with a part. is_direct: a stop stands directly before it."""
    i, phrase = part.start, tokens[part.start : part.start + 2]
    if is_direct and part.tables.isdisjoint(VERBS):
        return bans(tokens, i)
    is_alone = len(phrase) == 1 or phrase[1] in (*_MARKS, *_JOINS)
    is_noun = is_alone and (is_direct or load_wordnet().is_noun(phrase[0]))
    return begins(tokens, i) and not is_noun and " ".join(phrase) not in load_lexicon().rooms  # "break room"


def _order_after(tokens: Sequence[str], parts: Sequence[_Part], n: int) -> int:
    """Return the index of the first word of the order that follows stop n, len(tokens) if there is none.

    If the stop itself is the order, as a wait with a duration or a ban is, its own index is returned.
    Directly after the stop an order must begin with a verb: a noun there names the object to stop, or a
    person.
    """
    stop, is_direct = parts[n], parts[n].kind != "STANDING"
    while (n := n + 1) < len(parts):
        part, is_direct = parts[n], is_direct and parts[n].kind not in ("MARK", "JOIN")
        says = part.kind == "WORD" or load_vocabulary().is_in("STOP_REMARK", *tokens[part.start : part.end])
        is_remark = says and "STOP_REMARK" in part.tables and (is_direct or "WHERE_IS" not in part.tables)
        if part.kind in ("MARK", "JOIN", "ASIDE", "HERE") and not is_remark:
            continue
        if is_direct and stop.kind == "STOP_BARE" and (part.kind == "MEASURE" or "UNTIL" in part.tables):
            return stop.start  # how long to wait
        if part.kind in _STOPS and _is_now(tokens, parts, n, told=False):
            continue
        if not is_remark and _is_order(tokens, part, is_direct):
            # a ban is itself an order
            is_ban = stop.kind == "STANDING" or (stop.kind == "STOP_BARE" and bans(tokens, stop.start))
            return stop.start if is_ban else part.start
        leads = not is_direct and not part.tables.isdisjoint(_LEADS)
        if leads and any(_is_order(tokens, later, is_direct) for later in parts[n + 1 :]):
            return part.start
        is_said = is_remark and tokens[part.start] != "for"
        end = _clause_end(tokens, parts, n, is_said)
        is_asked = not is_direct or stop.kind in ("STOP_PHRASE", "STOP_LONE")
        if is_asked and _is_choice(tokens, part.start):
            return part.start  # "no no, the other one": the robot asks back
        n = end - 1
    return len(tokens)
