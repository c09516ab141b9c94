"""Search for the template question that is nearest in meaning to a question that no rule reads."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lodestar.language.chart import read_data
from lodestar.language.config import LikelyConfig
from lodestar.language.item_words import plural
from lodestar.language.named_nouns import NamedNoun, nouns_of
from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.language.question_record import ANSWERS
from lodestar.language.question_words import load_question_words

# Cosines and bonuses; all chosen with the sentences named in docs/measurements/questions.md.
LIKELY_MARGIN = 0.01  # least lead over the best template of another kind
LIKELY_SAME_KIND = 0.04  # bonus if the first words, or a word such as "location", state the kind
LIKELY_CUE = 0.05  # bonus if the text has a cue word of the template, else a penalty
LIKELY_UNUSED = 0.10  # penalty for each noun that fills no slot

#: Returns the unit vectors (N, D) of N texts. Raises LookupError if there are none.
Embed = Callable[[Sequence[str]], np.ndarray]

_YES_NO = ("is ", "has ", "have ", "did ")
_OF_TIME = {AnswerType.TIME, AnswerType.DURATION}  # "how long" may open "how long ago"
_SHOWN = {
    "thing": "mug",
    "things": "mugs",
    "room": "kitchen",
    "support": "table",
}  # example nouns that replace the slots


@dataclass(frozen=True)
class PlainQuestion:
    """A question template that the rules can read.

    text: the question with slots in braces. like: paraphrases. cue: name of a word list; a question of this
    meaning should contain one of its words, "" = no list.
    """

    kind: QuestionKind
    text: str
    like: tuple[str, ...]
    cue: str

    @property
    def slots(self) -> tuple[str, ...]:
        """Return the names of the question's slots in order."""
        return tuple(name for _, name, _, _ in string.Formatter().parse(self.text) if name)

    @property
    def is_yes_no(self) -> bool:
        """Return whether the answer is yes or no."""
        return self.text.startswith(_YES_NO)

    @property
    def answer(self) -> AnswerType:
        """Return the type of the answer; a room is answered by its name as text."""
        if self.text.startswith(("in which room", "which room")):
            return AnswerType.TEXT
        return (
            AnswerType.PLACE if self.kind is QuestionKind.WHICH else ANSWERS.get(self.kind, AnswerType.TEXT)
        )

    @property
    def shown(self) -> bool:
        """Return whether the question refers to a picture or to the current view."""
        return " this" in self.text


@dataclass(frozen=True)
class Likely:
    """A question template with its slots filled, and its similarity to the text, about 0 to 1."""

    text: str
    score: float


@lru_cache(maxsize=1)
def plain_questions() -> tuple[PlainQuestion, ...]:
    """Return the question templates of likely_questions.yaml, read once per process."""
    said = read_data("likely_questions.yaml")["questions"]
    return tuple(
        PlainQuestion(QuestionKind[kind.upper()], one["ask"], tuple(one["like"]), one.get("cue", ""))
        for kind, questions in said.items()
        for one in questions
    )


@lru_cache(maxsize=1)
def example_texts() -> tuple[tuple[str, ...], ...]:
    """Return the example texts of each question template.

    The last entry holds counterexamples, which no template may replace.
    """
    said = [tuple(text.format(**_SHOWN) for text in (one.text, *one.like)) for one in plain_questions()]
    return (*said, tuple(read_data("likely_questions.yaml")["other"]))


@lru_cache(maxsize=1)
def _cues() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in read_data("likely_questions.yaml")["cues"].items()}


@lru_cache(maxsize=1)
def _kinds() -> dict[QuestionKind, frozenset[str]]:
    said = read_data("likely_questions.yaml")["kinds"]
    return {QuestionKind[kind.upper()]: frozenset(words) for kind, words in said.items()}


@lru_cache(maxsize=1)
def _answers() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in read_data("likely_questions.yaml")["answers"].items()}


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    return frozenset(read_data("likely_questions.yaml")["frame"]["place"])


class LikelyQuestions:
    """Finds the question template nearest in meaning to a text, by embeddings; examples are embedded once."""

    def __init__(self, embed: Embed, config: LikelyConfig | None = None) -> None:
        self.config = config or LikelyConfig()
        self._embed = embed
        self._examples: np.ndarray | None = None
        self._owners: np.ndarray | None = None

    def load(self) -> None:
        """Compute the embeddings of the examples now. Raises LookupError if they are not available."""
        if self._examples is None:
            said = example_texts()
            self._owners = np.repeat(np.arange(len(said)), [len(texts) for texts in said])
            self._examples = np.asarray(self._embed([text for texts in said for text in texts]))

    def nearest(self, words: Sequence[str], read: Question | None = None) -> Likely | None:
        """Return the question template nearest in meaning to the words, None if none is near enough.

        Its slots are filled. read: the partial reading of the words, if any. Raises LookupError if no vector
        is available.
        """
        self.load()
        assert self._examples is not None and self._owners is not None
        nouns = nouns_of(words)
        asked = np.asarray(self._embed([masked(words, nouns)]))[0]
        cosines = self._examples @ asked
        questions = plain_questions()
        best = np.full(len(questions) + 1, -1.0)
        np.maximum.at(best, self._owners, cosines)
        scored = []
        for i, question in enumerate(questions):
            filled = _filled(question, nouns, words)
            if filled is None or _contradicts(question, read, words):
                continue
            text, unused = filled
            score = float(best[i]) + self._said(question, words, read) - LIKELY_UNUSED * unused
            scored.append((score, question.kind, text))
        scored.sort(reverse=True)
        if not scored or scored[0][0] < max(self.config.least, float(best[-1]) + self.config.other):
            return None
        rivals = [score for score, other, _ in scored[1:] if other is not scored[0][1]]
        if rivals and scored[0][0] - rivals[0] < LIKELY_MARGIN:
            return None
        return Likely(scored[0][2], scored[0][0])

    def _said(self, question: PlainQuestion, words: Sequence[str], read: Question | None) -> float:
        """Return the bonus of a template for its cue words and for its kind of question.

        The kind counts if the words or their partial reading ask for the same kind.
        """
        cues = _cues()
        following = zip(words, [*words[1:], ""])  # "its new place" is a move and no new object
        said = {one for one, after in following if one != "new" or after not in _places()}
        added = 0.0
        if read is not None and read.kind is not QuestionKind.OTHER:
            added += LIKELY_SAME_KIND * (question.kind is read.kind)
        for name, own in _kinds().items():
            added += LIKELY_SAME_KIND * (question.kind is name and not own.isdisjoint(said))
        if question.cue:
            added += LIKELY_CUE if not cues[question.cue].isdisjoint(said) else -LIKELY_CUE
        for one, other in (("first", "last"), ("last", "first")):
            if question.cue == one and cues[one].isdisjoint(said) and not cues[other].isdisjoint(said):
                added -= LIKELY_CUE
        return added


def _contradicts(question: PlainQuestion, read: Question | None, words: Sequence[str]) -> bool:
    """Return whether the text asks for another type of answer than the template gives."""
    if read is None:
        return False
    if read.kind is QuestionKind.OTHER:  # "can I ride on it" asks for a yes or no, "can you show me" does not
        able = (
            len(words) > 1
            and load_question_words().is_in("MODAL", words[0])
            and words[1] not in ("you", "we")
        )
        return able and not question.is_yes_no
    if question.is_yes_no is not (read.answer is AnswerType.YES_NO):
        return True
    answers = (question.answer, read.answer)
    return question.answer is not read.answer and set(answers) != _OF_TIME and not _says(question, words)


def _says(question: PlainQuestion, words: Sequence[str]) -> bool:
    """Return whether a word of the text names the template's answer type, as "location" names a place."""
    name = question.answer.name.lower()
    return not _answers().get(name, frozenset()).isdisjoint(words)


def masked(words: Sequence[str], nouns: Sequence[NamedNoun]) -> str:
    """Return the words as one text with every noun replaced by a standard one for objects, rooms or supports."""
    said: list[str] = []
    i = 0
    for noun in nouns:
        said += words[i : noun.begin]
        name = _SHOWN["room" if noun.is_room else "support" if noun.is_support else "thing"]
        said.append(plural(name) if noun.is_plural else f"{'a' if noun.is_any else 'the'} {name}")
        i = noun.end
    said += words[i:]
    return " ".join(said).replace(" ,", ",").replace(" .", ".").replace(" ?", "?")


def _filled(
    question: PlainQuestion, nouns: Sequence[NamedNoun], words: Sequence[str]
) -> tuple[str, int] | None:
    """Return the question with the nouns in its slots and the number of unused nouns; None if a slot stays
    empty.
    """
    if question.shown and (any(not n.is_room for n in nouns) or _cues()["picture"].isdisjoint(words)):
        return None
    left = list(nouns)
    values: dict[str, str] = {}
    for slot in sorted(question.slots, key=("support", "room", "things", "thing").index):
        noun = next((n for n in _ordered(left, slot) if _fits(n, slot, question)), None)
        if noun is None:
            return None
        left.remove(noun)
        values[slot] = _as_said(noun, slot)
    main = next((s for s in ("thing", "things") if s in values), None)
    unused = 0
    for noun in left:
        if noun.link and main is not None:
            values[main] += f" {noun.link} the {noun.text}"
        else:
            unused += 1
    return question.text.format(**values), unused


def _fits(noun: NamedNoun, slot: str, question: PlainQuestion) -> bool:
    match slot:
        case "room":
            return noun.is_room
        case "support":
            return not noun.is_room and (noun.is_support or len(question.slots) == 1 or not noun.is_any)
    return not noun.is_room


def _ordered(nouns: Sequence[NamedNoun], slot: str) -> list[NamedNoun]:
    """Return the nouns, likelier ones for the slot first: for a support "the desk" before "a mug"."""
    match slot:
        case "support":
            return sorted(nouns, key=lambda noun: (not noun.is_support, noun.is_plural, noun.is_any))
        case "things":
            return sorted(nouns, key=lambda noun: not noun.is_plural)
    return list(nouns)


def _as_said(noun: NamedNoun, slot: str) -> str:
    if slot != "things" or noun.is_plural:
        return noun.text
    first, *rest = noun.text.split(f" {noun.link} ", 1) if noun.link else [noun.text]
    return " ".join([plural(first), *rest])
