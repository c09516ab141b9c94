"""Reordering of questions into the order that the rules read: question word, verb, subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lodestar.language.named_nouns import nouns_of
from lodestar.language.noun_words import is_place
from lodestar.language.question_words import load_question_words
from lodestar.language.vocabulary import load_vocabulary

_ASKED = (
    "WHEN",
    "TIMES_Q",
    "HOW_LONG",
    "HOW_OFTEN",
    "HOW_MANY",
    "HOW_FAR",
    "ROOM",
    "WHERE",
    "WHICH_Q",
    "WHAT",
    "WHO",
)
_NAMING = ("HOW_MANY", "WHICH_Q")  # tables of question words before a noun
_TO_INVERT = ("BE", "HAVE", "DO", "MODAL")  # tables of verbs before the subject of a question
_BEFORE_WHAT = frozenset({"in", "on", "at", "upon", "from", "into", "since", "for", "inside"})
_LONGEST_FRAME = 8  # words before the question word: "would you be so kind as to tell me"
_IT = frozenset({"it", "that", "this", "there"})


def reordered(before: Sequence[Sequence[str]], words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the question in other word orders, likeliest first; each keeps all words with content.

    before: the sentences before it. "tell me what the mug stands on", "the mug stands on what" and "the mug
    stands on something. what is it" all ask "what does the mug stand on".
    """
    said = without_frame(words)
    stated = _of_statement(before, said)
    orders = [_exact(one) for one in (_of_topic(before, said), said, stated) if one is not None]
    orders += [fronted for one in tuple(orders) if (fronted := _fronted(one)) is not None]
    for one in orders:
        inverted = _inverted(one)
        if inverted is not None:
            yield inverted
        if list(one) != list(words):
            yield list(one)


def is_of_statement(before: Sequence[Sequence[str]], words: Sequence[str]) -> bool:
    """Return whether the question refers to the sentence before it.

    It may ask about that sentence's "something", its time, or the room that the sentence names.
    """
    return _of_statement(before, words) is not None or _of_topic(before, words) is not None


def without_frame(words: Sequence[str]) -> list[str]:
    """Return the words from the question word on, if the words before only ask to be told."""
    vocabulary = load_question_words()
    named = (n for n in nouns_of(words) if not vocabulary.is_in("TELLING", n.text.split()[-1]))
    first = min((noun.begin for noun in named), default=len(words))
    for i in range(1, min(first, _LONGEST_FRAME, len(words) - 1) + 1):
        if i >= len(words) or not _asked_at(words, i):
            continue
        tells = any(vocabulary.is_in("TELLING", word) for word in words[:i])
        about = all(vocabulary.is_in("ROUGHLY", word) for word in words[:i])
        starts = _asked_at(words, 0)
        if about or (tells and not starts):
            return list(words[i:])
    return list(words)


def _exact(words: Sequence[str]) -> list[str]:
    """Return the words without "approximately" after the question words."""
    vocabulary, start = load_question_words(), _asked_at(words, 0) if words else 0
    end = start
    while start and end < len(words) - 1 and vocabulary.is_in("ROUGHLY", words[end]):
        end += 1
    return [*words[:start], *words[end:]]


def _asked_at(words: Sequence[str], i: int) -> int:
    """Return the number of question words at word i, with a preposition before them; 0 = none."""
    vocabulary = load_question_words()
    longest = max((match[0] for t in _ASKED if (match := vocabulary.match(t, words, i))), default=0)
    if not longest and words[i] in _BEFORE_WHAT and i + 1 < len(words):
        inner = max(
            (m[0] for t in ("WHAT", "WHICH_Q", "HOW_MANY") if (m := vocabulary.match(t, words, i + 1))),
            default=0,
        )
        return inner + 1 if inner else 0
    return longest


def _fronted(words: Sequence[str]) -> list[str] | None:
    """Return the words with the question word moved to the front ("the mug is in which room"), or None for no
    change.
    """
    if not words or _asked_at(words, 0):
        return None
    for i in range(1, len(words)):
        length = _asked_at(words, i)
        if length and (nouns_of(words[:i]) or load_question_words().match("TIME_Q", words, 0)):
            end = i + _with_noun(words, i, length)
            return [*words[i:end], *words[:i], *words[end:]]
    return None


def _with_noun(words: Sequence[str], i: int, length: int) -> int:
    """Return the number of the question words and their noun: "which room", "how many chairs", "what color"."""
    vocabulary, end = load_question_words(), i + length
    attribute = vocabulary.match("ATTR", words, end)
    if attribute is not None and not vocabulary.is_in("BE", words[end]):
        return length + attribute[0]
    asks_noun = any(
        (match := vocabulary.match(table, words, k)) is not None and k + match[0] == end
        for table in _NAMING
        for k in (i, i + 1)
        if k < end
    )
    if asks_noun and end < len(words) and not load_vocabulary().is_in("DET", words[end]):
        noun = next((n for n in nouns_of(words) if n.begin == end), None)
        if noun is not None:
            return noun.end - i
        if is_place(words[end]):
            return length + 1
    return length


def _inverted(words: Sequence[str]) -> list[str] | None:
    """Return the words with the verb moved before its subject ("when the mug was moved"), or None for no
    change.
    """
    if not words:
        return None
    vocabulary = load_question_words()
    length = _asked_at(words, 0)
    if not length:
        return None
    length = _with_noun(words, 0, length)
    end = _end_of_subject(words, length)
    if end is None or end >= len(words):
        return None
    for table in _TO_INVERT:
        match = vocabulary.match(table, words, end)
        if match is not None and not (table == "HAVE" and end + match[0] == len(words)):
            verb = words[end : end + match[0]]
            return [*words[:length], *verb, *words[length:end], *words[end + match[0] :]]
    now = words[end].endswith("s") and not words[end].endswith("ss")  # "stands", "has": present tense
    return [*words[:length], "does" if now else "did", *words[length:]]


def _end_of_subject(words: Sequence[str], start: int) -> int | None:
    """Return the end of the subject at `start`: the robot, somebody, "there", or a described object; None if
    there is none.
    """
    vocabulary, function = load_question_words(), load_vocabulary()
    if start >= len(words) or any(vocabulary.is_in(t, words[start]) for t in _TO_INVERT):
        return None
    for table in ("ROBOT", "SOMEBODY", "THIS"):
        match = vocabulary.match(table, words, start)
        if match is not None:
            return start + match[0]
    if words[start] in ("there", "it"):
        return start + 1
    if vocabulary.match("TIME_Q", words, start) is not None:  # e.g. "the last time you saw the mug was"
        return next((i for i in range(len(words) - 1, start, -1) if vocabulary.is_in("BE", words[i])), None)
    nouns = {noun.begin: noun.end for noun in nouns_of(words)}
    end = nouns.get(start)
    while end is not None and end < len(words):
        links = (function.match(table, words, end) for table in ("REL", "WITH", "OF", "CLOSE"))
        following = (nouns.get(end + link[0]) for link in links if link is not None)
        longer = next((one for one in following if one is not None), None)
        if longer is None or longer >= len(words):
            break
        end = longer
    return end


def _of_topic(before: Sequence[Sequence[str]], words: Sequence[str]) -> list[str] | None:
    """Return the question with the room named before it, as in "the meeting room: how many boxes".

    None if the sentence before it is not just a room.
    """
    nouns = nouns_of(before[-1]) if before else []
    if len(nouns) != 1 or not nouns[0].is_room or (nouns[0].begin, nouns[0].end) != (0, len(before[-1])):
        return None
    if any(noun.is_room for noun in nouns_of(words)) or not _IT.isdisjoint(words):
        return None
    return [*words, "in", *before[-1]]


def _of_statement(before: Sequence[Sequence[str]], words: Sequence[str]) -> list[str] | None:
    """Return the question merged with the sentence before it, None if it does not refer to it.

    "The mug was moved. When was that" becomes "when the mug was moved".
    """
    length = _asked_at(words, 0) if words else 0
    if not length or not before:
        return None
    vocabulary = load_question_words()
    rest = [word for word in words[length:] if word not in _IT]
    bare = all(any(vocabulary.is_in(t, word) for t in ("BE", "DO", "HAPPENED", "HAPPEN_Q")) for word in rest)
    if not bare or (rest and len(rest) == len(words[length:])):
        return None
    asked, stated = list(words[:length]), list(before[-1])
    if "WHAT" in vocabulary.matches(words, 0):
        i = next((k for k, word in enumerate(stated) if word in ("something", "somethings")), None)
        if i is None:
            return None
        if i == 1 and vocabulary.is_in("BE", stated[0]):  # e.g. "is something gone from the kitchen"
            return [*asked, stated[0], *stated[2:]]
        if i and vocabulary.is_in("BE", stated[i - 1]) and stated[0] == "there":
            return [*asked, stated[i - 1], *stated[i + 1 :]]
        return [*stated[:i], *asked, *stated[i + 1 :]]
    if any(t in vocabulary.matches(words, 0) for t in ("WHEN", "HOW_LONG")):
        return [*asked, *stated]
    return None
