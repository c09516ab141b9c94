"""Two readers vote: where they differ in what may happen, the robot asks back instead of driving off.

The first reader (the grammar, as a rule) says what to do. The second knows kinds, nouns and whether something is
forbidden, and only doubts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lodestar.language.directive import AmbiguousDirective, Directive, DirectiveError, Step
from lodestar.language.directive_parsers import DirectiveParser, GrammarDirectives, Readings
from lodestar.language.directive_reader import read_directive
from lodestar.language.example_vectors import KeptVectors, kept_vectors
from lodestar.language.named_nouns import NamedNoun, nouns_of
from lodestar.language.nearest_reader import NearestReader, NearestReading, masked_text
from lodestar.language.noun_words import is_place
from lodestar.language.prohibitions import unaccounted
from lodestar.language.readable_text import MAX_CHARACTERS
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, shown, tokens_of
from lodestar.language.sentences import sentence
from lodestar.language.spelling import corrected
from lodestar.language.spoken_frames import framed
from lodestar.language.step_kinds import step_spec
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.embedder import PACKAGED_MODEL, EmbedderUnavailable, SentenceTransformerEmbedder
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.models.wordnet import load_wordnet

_log = logging.getLogger(__name__)

_MODALS = frozenset({"must", "could", "would", "should", "shall", "as", "so"})
_OPENS = frozenset({COMMA, STOP, QUESTION})
_ALONE = "the second reader of sentences has no text model ({}): the grammar reads alone"


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a reading. other: what may be meant instead, "" = nothing that can be said."""

    why: str
    other: str = ""


class TwoReaders:
    """The first reader's readings, where the second does not contradict the best of them.

    second: None = no text model: nouns alone are compared. warn is called once, with why it does not vote.
    """

    def __init__(
        self,
        first: DirectiveParser | None = None,
        second: NearestReader | None = None,
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        self._first = first or GrammarDirectives(most=1)  # only the best is compared and obeyed
        self._second = second
        self._warn = warn
        self._is_told = False

    def phrases(self, text: str) -> tuple[str, ...]:
        """The phrases whose vectors the second reader needs for a text, besides `examples`."""
        if self._second is None or len(text) > MAX_CHARACTERS:
            return ()
        words = _words(text)
        return (masked_text(words, nouns_of(words)),) if words else ()

    @property
    def examples(self) -> tuple[str, ...]:
        """The phrases of the annotated sentences, without whose vectors the second reader does not vote."""
        return () if self._second is None else self._second.texts

    def parse(self, text: str) -> Readings:
        """Readings, best first. Raises DirectiveError, AmbiguousDirective where the readers differ."""
        readings = self._first.parse(text)
        best = readings[0].directive
        words = _words(text)
        nouns = nouns_of(words)
        doubt = strange_noun(words, best, nouns) or self._vote(words, nouns, best)
        if doubt is not None:
            raise _asked_back(doubt, best, text)
        return readings

    def _vote(self, words: Sequence[str], nouns: Sequence[NamedNoun], best: Directive) -> Doubt | None:
        if self._second is None:
            return None
        try:
            read = self._second.read(words, nouns)
        except (LookupError, EmbedderUnavailable) as error:
            if not self._is_told:
                self._is_told = True
                self._warn(_ALONE.format(error))
            return None
        return contradiction_of(best, read, self._second)


def contradiction_of(directive: Directive, read: NearestReading, reader: NearestReader) -> Doubt | None:
    """The doubt of the second reader about a directive; None where it agrees, or is not sure."""
    config = reader.config
    if read.likeness < config.least:
        return None
    own = {step_spec(step.kind).reader_class for step in directive.steps}
    others = [name for name, share in read.shares.items() if share >= config.sure and name not in own]
    if others and all(read.shares.get(name, 0.0) <= config.never for name in own):
        return Doubt(f'by its meaning it is like "{read.example}"', _said(read))
    if read.forbids >= config.sure and not _forbids(directive):
        return Doubt(f'by its meaning something is forbidden, as in "{read.example}"')
    return None


def strange_noun(
    words: Sequence[str], directive: Directive, nouns: Sequence[NamedNoun] | None = None
) -> Doubt | None:
    """The doubt about a thing that is no noun of the text: a verb, "somebody", a word of politeness taken for one.

    nouns: what `nouns_of` finds in the words, None = find it.
    """
    nouns = nouns_of(words) if nouns is None else nouns
    named = {word for noun in nouns for word in noun.text.split()}
    for step in directive.steps:
        for phrase in _heads(step):
            first, last = phrase[0], phrase[-1]
            if last not in words or (last in named and _MODALS.isdisjoint(phrase)):
                continue
            if (
                not _MODALS.isdisjoint(phrase)
                or _opens_as_verb(words, first, len(phrase))
                or _is_no_noun(last)
            ):
                return Doubt(f'"{" ".join(phrase)}" is read as the name of a thing')
    return None


def _heads(step: Step) -> list[list[str]]:
    """The words of the things that a step moves to."""
    if step.item is None or not step_spec(step.kind).said:
        return []
    return [
        graph.target.phrase.split(" of ")[0].split(" to ")[0].split()
        for graph in step.item.best
        if graph.target.category not in ("spot", "object") and not is_place(graph.target.category)
    ]


def _opens_as_verb(words: Sequence[str], first: str, length: int) -> bool:
    """Whether a name without an article opens a clause that goes on, and could be its verb or its subject."""
    i = list(words).index(first) if first in words else -1
    if i < 0 or (i and words[i - 1] not in _OPENS) or i + length >= len(words) or words[i + length] in _OPENS:
        return False
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    if (
        lexicon.canonical(" ".join(words[i : i + length]))
        or lexicon.canonical(first)
        or lexicon.attribute(first)
    ):
        return False
    someone = vocabulary.is_in("SOMEONE", first) or vocabulary.is_in("ANYTHING", first)
    goes_on = (
        vocabulary.matches(words, i + length).keys().isdisjoint(("REL", "WITH", "THAT", "AND", "OR", "OF"))
    )
    return someone or load_wordnet().is_mostly_verb(first) or (goes_on and load_wordnet().is_verb(first))


def _is_no_noun(word: str) -> bool:
    lexicon, wordnet = load_lexicon(), load_wordnet()
    one = lexicon.singular(word)
    if lexicon.canonical(word) or lexicon.attribute(word) or wordnet.is_noun(word) or wordnet.is_noun(one):
        return False
    return wordnet.is_verb(word) or word in load_vocabulary().words


def _forbids(directive: Directive) -> bool:
    graphs = [graph for step in directive.steps for graph in step.graphs]
    negated = any(predicate.negated for graph in graphs for predicate in graph.predicates)
    excluded = any(step.item is not None and step.item.excluded for step in directive.steps)
    return bool(directive.constraints) or negated or excluded


def _said(read: NearestReading) -> str:
    """The second reader's meaning in words that the first reads, "" where it cannot be said."""
    spec = step_spec(read.kind)
    return spec.said.format(read.heads[0]) if read.heads and spec.said else spec.said_alone


def _asked_back(doubt: Doubt, best: Directive, text: str) -> AmbiguousDirective:
    """The question which reading is meant."""
    choices = [(sentence(best), best)]
    if doubt.other:
        try:
            other = read_directive(doubt.other)[0].directive
        except DirectiveError:
            pass
        else:
            is_new = sentence(other) != choices[0][0] and not unaccounted(_words(text), other)
            choices += [(sentence(other), other)] if is_new else []
    meant = " or ".join(f'"{words}"' for words, _ in choices)
    return AmbiguousDirective(
        f'"{shown(text)}" is doubtful: {doubt.why}. Do you mean {meant}? If neither, say it in other words.',
        choices,
    )


def _words(text: str) -> list[str]:
    return framed(corrected(tokens_of(text)))


def book_reader(phrases: PhraseBook) -> NearestReader:
    """The second reader on the vectors of a phrase book; it does not vote on those of another model than its own."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        vectors = phrases.vectors(texts)
        if phrases.model != PACKAGED_MODEL:
            raise LookupError(f"its limits are those of {PACKAGED_MODEL}, not of {phrases.model}")
        return vectors

    reader = NearestReader(embed)
    kept = kept_vectors(PACKAGED_MODEL, reader.texts)
    if kept is not None and phrases.model in ("", PACKAGED_MODEL):
        phrases.add(reader.texts, kept, PACKAGED_MODEL)
    return reader


def keep_vectors() -> bool:
    """Keep the vectors of the annotated sentences for every later process; False = no text model is installed."""
    try:
        NearestReader(KeptVectors(SentenceTransformerEmbedder())).load()
    except EmbedderUnavailable:
        return False
    return True


@lru_cache(maxsize=1)
def offline_readers() -> TwoReaders:
    """The grammar and the second reader on the packaged text model, loaded once per process where it is installed."""
    embedder = SentenceTransformerEmbedder()
    return TwoReaders(second=NearestReader(KeptVectors(embedder)))
