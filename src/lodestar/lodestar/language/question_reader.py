"""Parser that reads questions in plain English by the rules of `questions.yaml`, or else by their first
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from lodestar.language.chart import Reading, load_chart
from lodestar.language.directive_draft import Draft
from lodestar.language.directive_errors import DirectiveError, NotUnderstood
from lodestar.language.items import Item, is_open
from lodestar.language.lattice import lattice_of
from lodestar.language.likely_questions import LikelyQuestions
from lodestar.language.named_nouns import nouns_of
from lodestar.language.named_things import thing_in, without_subject
from lodestar.language.question import LIKELY, Question, QuestionKind
from lodestar.language.question_doubts import (
    drops_state,
    is_doubtful,
    is_of_capacity,
    is_of_future,
    is_plain_time,
)
from lodestar.language.question_edges import without_clause, without_edges, without_occurrence
from lodestar.language.question_openings import opening_of
from lodestar.language.question_orders import is_of_statement, reordered, without_frame
from lodestar.language.question_record import question_of
from lodestar.language.question_times import NamedTime, split_window, time_of_sighting, with_subject
from lodestar.language.question_words import (
    is_inside_name,
    load_question_words,
    question_lattice,
    with_clock_words,
)
from lodestar.language.readable_text import MAX_CHARACTERS, readable_words
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, shown
from lodestar.language.time_windows import ANY_TIME
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.embedder import EmbedderUnavailable

LIKELY_DOUBTFUL = 0.70  # score from which it replaces a doubtful reading of all words

EXAMPLE = 'ask for example "where did you last see the red mug?" or "how many chairs are in the kitchen?"'
MAX_QUESTION = 45  # words; the chart of a longer question takes too long
_NAMED_FIRST = ("which", "how_many")
_MARKS = (COMMA, QUESTION, STOP)
_NEED = frozenset({("something", "to"), ("anything", "to"), ("something", "for"), ("anything", "for")})


@dataclass(frozen=True)
class _Core:
    """Words of one sentence of the text. asks: a question mark ends it."""

    words: tuple[str, ...]
    asks: bool


def read_question(text: str, named: Item | None = None, likely: LikelyQuestions | None = None) -> Question:
    """Return the question of a text; if there are several sentences, the last question counts.

    named: the item that "it" means if the text does not say. likely: finds the question template nearest in
    meaning if no rule reads every word, or the reading is doubtful. If no template is near enough, such a
    question is partial: its kind comes from its first words, its item is the first object that it names.
    Raises EmptyDirective for an empty text, NotUnderstood if it is too long, not English, asks for nothing,
    or gives an order.
    """
    words = readable_words(
        with_clock_words(text) if len(text) <= MAX_CHARACTERS else text, "question", EXAMPLE
    )
    said = _sentences(words)
    _check_orders(said)
    said = _up_to_question(said)
    draft, times = Draft(), ""
    for sentence in said[:-1]:
        times = _remember(draft, sentence.words)
        if draft.named is None and named is None and _shows(sentence.words):
            named = Item()
    core = said[-1]
    if len(core.words) > MAX_QUESTION:
        raise NotUnderstood(
            f'"{shown(" ".join(core.words))}" has more than {MAX_QUESTION} words; ask in a shorter sentence'
        )
    found, refused = None, None
    try:
        found = _read(core, draft, named, times)
    except DirectiveError as error:
        refused = error
    stated = [one.words for one in said[:-1]]
    if found is None or found.is_partial or is_doubtful(found) or is_of_statement(stated, core.words):
        found = _in_other_order(stated, core, draft, named, times) or found
    unclear = found is None or found.is_partial or is_doubtful(found)
    if likely is not None and unclear and not _names_need(found, core.words):
        # the subject of "I have some rubbish. Where can I put it?" is not the rubbish
        bare = len(core.words) == 1 or not {"i", "we"}.isdisjoint(core.words)
        before = () if bare else tuple(word for one in said[:-1] for word in (*one.words, STOP))
        found = _by_meaning(before, core, found, likely) or found
    if found is None:
        assert refused is not None
        raise refused
    # the memory cannot answer "where will the mug be", "how many more mugs fit on it"
    if is_of_future(core.words) or is_of_capacity(core.words):
        found = replace(found, kind=QuestionKind.OTHER)
    return replace(found, text=text)


def _names_need(found: Question | None, words: Sequence[str]) -> bool:
    """Return whether the question asks where to find an object for a purpose: "something to climb up on".

    Such objects are known from their uses, not from the objects that the purpose names.
    """
    if found is None or found.kind is not QuestionKind.WHERE or found.item is None:
        return False
    return is_open(found.item) and any(pair in _NEED for pair in pairwise(words))


def load_questions() -> None:
    """Build the grammar's tables now: it takes seconds, once per process."""
    read_question("where did you last see the mug in the last hour?")


def _read(core: _Core, draft: Draft, named: Item | None, told_times: str = "") -> Question:
    """Return the question of one sentence.

    told_times: the occurrence ("first", "last") stated by an earlier sentence.
    """
    words, times = without_edges(core.words)
    try:
        words, said = split_window(words)
    except ValueError as error:
        raise NotUnderstood(f"{error}; {EXAMPLE}") from None
    words, others = without_edges(words)
    words, inner = without_occurrence(words)
    times = times or said.times or others or inner or told_times
    words, told = without_clause(words)
    return _of_words(words, NamedTime(said.window, times), told, core, draft, named)


def _in_other_order(
    before: Sequence[Sequence[str]], core: _Core, draft: Draft, named: Item | None, times: str
) -> Question | None:
    """Return the question in the first word order that the rules read completely, None if there is none."""
    for words in reordered(before, core.words):
        try:
            found = _read(_Core(tuple(words), True), replace(draft), named, times)
        except DirectiveError:
            continue
        if not found.is_partial and not is_doubtful(found):
            return found
    return None


def _by_meaning(
    before: Sequence[str], core: _Core, found: Question | None, likely: LikelyQuestions
) -> Question | None:
    """Return the template question nearest in meaning, None if none is near enough.

    before: words of the earlier sentences. found: the reading by the rules.
    """
    words, window = without_frame(core.words), ANY_TIME
    with suppress(ValueError):
        rest, said = split_window(words)
        if is_plain_time(said.window) and (nouns_of(rest) or not nouns_of(words)):
            words, window = rest, said.window
    words = [*before, *words]
    if not _is_english(words) or len(words) > MAX_QUESTION or is_of_future(words):
        return None
    try:
        near = likely.nearest(words, found)
    except (LookupError, EmbedderUnavailable):  # no embedder: only the rules read
        return None
    if near is None or (found is not None and not found.is_partial and near.score < LIKELY_DOUBTFUL):
        return None
    try:
        plain = _read(_Core(tuple(near.text.rstrip("?").split()), True), Draft(), None)
    except DirectiveError:
        return None
    return (
        None
        if plain.is_partial or drops_state(found, plain)
        else replace(plain, window=window, confidence=LIKELY)
    )


def _of_words(
    words: Sequence[str], said: NamedTime, told: dict[str, Any], core: _Core, draft: Draft, named: Item | None
) -> Question:
    """Return the question of the words that remain after times, courtesies and clauses were removed.

    said: the removed time. told: the meaning of the removed clause. core: the whole sentence.
    """
    window, times = said.window, said.times
    draft_before = replace(draft)
    unread: DirectiveError | None = None
    for reading in _readings(words):
        try:
            found = question_of(draft, {**told, **reading.meaning}, words, window, times, named)
            return _with_subject(found)
        except DirectiveError as error:
            draft, unread = replace(draft_before), unread or error
    if unread is not None:
        raise unread
    meaning = opening_of(words, core.asks)
    if meaning is None or (not meaning["length"] and not _is_english(words)):
        raise NotUnderstood(f'"{shown(" ".join(core.words))}" is not understood as a question; {EXAMPLE}')
    pictured = bool(meaning.get("image"))
    thing = None if pictured else thing_in(_naming(words[meaning["length"] :], str(meaning["kind"])))
    meaning = {**told, **meaning, **({} if thing is None else {"thing": thing})}
    try:
        found = question_of(draft, meaning, words, window, times, named, partial=True)
    except DirectiveError:
        bare = {key: value for key, value in meaning.items() if key != "thing"}
        found = question_of(draft, bare, words, window, times, named, partial=True)
    return _with_subject(found)


def _with_subject(question: Question) -> Question:
    """Return the question with "it" in its time window replaced by the question's object or place."""
    item = question.item
    if question.kind is QuestionKind.WHAT_THERE and item is not None and item.neighbor_graphs:
        item = Item(((item.neighbor_graphs[0],),))
    return replace(question, window=with_subject(question.window, item)) if question.window else question


def _naming(words: Sequence[str], kind: str) -> Sequence[str]:
    """Return the part of the words whose first noun is the question's object. kind: kind of question."""
    if kind not in _NAMED_FIRST:
        return without_subject(words)
    vocabulary = load_question_words()
    tables = ("AUXBE", "MODAL", "BE")
    end = next(
        (
            i
            for i in range(1, len(words))
            if any(vocabulary.is_in(t, words[i]) for t in tables) and not is_inside_name(words, 0, i)
        ),
        len(words),
    )
    return words[:end]


def _readings(words: Sequence[str]) -> list[Reading]:
    """Return the grammar's readings of all the words, best first.

    Each noun is tried whole and cut before a verb.
    """
    if not words:
        return []
    chart = load_chart("question")
    found = [r for cut in (False, True) for r in chart.readings(question_lattice(words, cut))]
    return sorted(found, key=lambda reading: reading.cost)


# --- recognising questions ----------------------------------------------------------------------------------------


def _sentences(words: Sequence[str]) -> list[_Core]:
    """Return the sentences in order. A comma ends a sentence if a question begins after it."""
    found: list[_Core] = []
    fronted: tuple[str, ...] = ()
    start = 0
    for i in range(len(words) + 1):
        mark = words[i] if i < len(words) else STOP
        cuts = mark in (STOP, QUESTION) or (
            mark == COMMA and _asks_at(words, i + 1) and not _asks_at(words, start)
        )
        if cuts and i > start:
            found.append(_Core(tuple(words[start:i]), mark == QUESTION))
        if cuts and mark == COMMA and _is_fronted(found[-1].words):
            fronted = found.pop().words
        elif cuts and i > start:
            if fronted:
                found[-1] = replace(found[-1], words=(*found[-1].words, *fronted))
            fronted = ()
        if cuts:
            start = i + 1
    return found


def _is_fronted(words: Sequence[str]) -> bool:
    """Return whether the words are a place or an occurrence said before the question: "in the office, how
    many".
    """
    occurrence = load_question_words().match("TIMES_MEANT", words, 0)
    if occurrence is not None and occurrence[0] == len(words):
        return True
    relation = load_vocabulary().match("REL", words, 0)
    if relation is None or relation[1] not in ("Inside", "On"):
        relation = load_vocabulary().match("FROM", words, 0)
    if relation is None:
        return False
    start = relation[0]
    named = lattice_of(words).options[start].get("NP") if start < len(words) else None
    if named is not None and start + named.length == len(words):
        return True
    nouns = nouns_of(words)
    return len(nouns) == 1 and (nouns[0].begin, nouns[0].end) == (start, len(words))


def _up_to_question(said: list[_Core]) -> list[_Core]:
    """Return the sentences up to the last question: "where is the mug?" of "where is the mug? I need it."."""
    asking = [i for i, core in enumerate(said) if core.asks or _asks_at(core.words, 0)]
    return said[: asking[-1] + 1] if asking else said


def _is_english(words: Sequence[str]) -> bool:
    """Return whether some word is a function word that only English has."""
    vocabulary, own = load_vocabulary(), load_question_words()
    return any(
        len(word) > 2
        and (vocabulary.is_in("DET", word) or own.is_in("ROBOT", word) or own.is_in("AUXM", word))
        for word in words
    )


def _asks_at(words: Sequence[str], i: int) -> bool:
    """Return whether a question begins at word i."""
    rest, _ = without_edges(words[i:])
    return bool(rest) and opening_of(rest, False) is not None


def _check_orders(said: Sequence[_Core]) -> None:
    """Raise NotUnderstood if a sentence gives an order beside the question."""
    vocabulary = load_question_words()
    for core in said:
        words, _ = without_edges(core.words)
        for i in range(len(words)):
            begins = i == 0 or words[i - 1] in ("and", "then", "but", COMMA, "please", "to", "you")
            asks = i > 0 and words[i - 1] in ("you", "to") and opening_of(words, False) is not None
            if begins and not asks and vocabulary.match("ORDERS", words, i) is not None:
                order = shown(" ".join(words[i:]))
                raise NotUnderstood(f'"{order}" is an order, and asking changes nothing; leave the order out')


def _shows(words: Sequence[str]) -> bool:
    """Return whether a sentence ends with "this" or the like for a shown object: "I found this one"."""
    vocabulary = load_question_words()
    kept = [word for word in words if word not in _MARKS]
    return any(
        (match := vocabulary.match("THIS", kept, i)) is not None and i + match[0] == len(kept)
        for i in range(1, len(kept))
    )


def _remember(draft: Draft, words: Sequence[str]) -> str:
    """Store the object that a sentence before the question names, which "it" may refer to.

    Returns the occurrence that the sentence states ("the last time that you saw the mug, where was it?"), ""
    = none.
    """
    sighting = time_of_sighting(words)
    if sighting is not None:
        draft.remember({"thing": sighting["of"]})
        return str(sighting["times"])
    vocabulary = load_vocabulary()
    starts = [i for i in range(len(words)) if vocabulary.match("DET", words, i) is not None]
    named = (thing_in(_naming(words[i:], "which")) for i in starts)
    thing = next((one for one in named if one is not None), None) or thing_in(without_subject(words))
    if thing is not None:
        draft.remember({"thing": thing})
    return ""
