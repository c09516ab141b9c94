"""Vocabulary of a detector, and a report of the words that it cannot detect.

The words are the standing ones, which are always searched for, and those of the directive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from lodestar.models.kinship import kind_of, label_for, nearest_label
from lodestar.models.lexicon import words_of
from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import WordsConfig
from lodestar.perception.frames import DetectorUnavailable, Labeller, Vocabulary

_MOST_BYTES = 100_000  # largest size of a file of words
MOST_LETTERS = 64  # letters of a word; text models read little more of a phrase


@dataclass(frozen=True)
class WantedWords:
    """Nouns of the running directive, in the singular. id: unique to this set."""

    id: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class WordSight:
    """A wanted word, and the label by which the detector detects it.

    label: "" = it cannot detect the word; then nearest is its most similar label, "" = none.
    """

    word: str
    label: str = ""
    nearest: str = ""


@dataclass(frozen=True)
class VocabularyReport:
    """Report on the wanted words that a detector can detect. names: all labels of a closed detector.

    wanted_id: id of the `WantedWords` reported on, "" = none received. problem: why the detector does not
    search for the words, "" = it does.
    """

    wanted_id: str = ""
    detector: str = ""
    is_open: bool = False
    names: tuple[str, ...] = ()
    words: tuple[WordSight, ...] = ()
    problem: str = ""

    def answering(self, wanted: WantedWords) -> VocabularyReport:
        """Return a report on other wanted words, derived from this report by the lexicon alone."""
        if wanted.id == self.wanted_id:
            return self
        labels = wanted.words if self.is_open else self.names
        words = tuple(_sight(word, labels, None) for word in wanted.words)
        return VocabularyReport(wanted.id, self.detector, self.is_open, self.names, words, self.problem)

    @property
    def unseen(self) -> tuple[WordSight, ...]:
        """Return the words that the detector cannot detect."""
        return tuple(word for word in self.words if not word.label)

    @property
    def sentence(self) -> str:
        """Return a sentence for a person about the words that cannot be detected; "" if there are none."""
        if not self.unseen:
            return ""
        said = " and ".join(
            f'no "{one.word}"' + (f'; nearest: "{one.nearest}"' if one.nearest else "") for one in self.unseen
        )
        if self.problem:
            words = ", ".join(f'"{one.word}"' for one in self.unseen)
            return f"The detector does not look for {words}: {self.problem}"
        if not self.names and not self.is_open:
            return f"This detector ({self.detector}) gives no names, so it knows {said}."
        return f"This detector ({self.detector}) knows {said}."


class Lookout:
    """Sets the words of a detector. All calls come from one thread, which may differ from that of the images.

    standing: words that an open detector always searches for. limit: most words in all. phrases: used to find
    the nearest label; without vectors the lexicon is used.
    """

    def __init__(
        self,
        detector: Labeller,
        standing: Sequence[str] = (),
        limit: int = WordsConfig.limit,
        phrases: PhraseBook | None = None,
    ) -> None:
        self._detector, self._limit, self._phrases = detector, limit, phrases
        self._standing = tuple(standing)
        self._kinds = frozenset(map(kind_of, self._standing))
        self._looked_for: tuple[str, ...] = ()  # words that the detector accepted last

    def look_for(self, wanted: WantedWords) -> VocabularyReport:
        """Search for these words and the standing ones instead of the previous ones; return a report.

        The report is on the wanted words. An open detector may take seconds to encode them.
        """
        vocabulary, problem = Vocabulary(), ""
        try:
            vocabulary = self._detector.vocabulary
            words = self._prompts(wanted.words)
            if vocabulary.is_open and words != self._looked_for:
                self._detector.look_for(words)
                self._looked_for = words
        except DetectorUnavailable as error:
            problem = str(error)
        labels = self._looked_for if vocabulary.is_open else vocabulary.names
        sights = tuple(_sight(word, labels, self._phrases) for word in wanted.words)
        return VocabularyReport(
            wanted.id, self._detector.name, vocabulary.is_open, vocabulary.names, sights, problem
        )

    def _prompts(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words for an open detector, without duplicates or synonyms of standing words."""
        new = [word for word in words if kind_of(word) not in self._kinds]
        return tuple(dict.fromkeys((*new, *self._standing)))[: self._limit]


def _sight(word: str, labels: Sequence[str], phrases: PhraseBook | None) -> WordSight:
    label = label_for(word, labels)
    return WordSight(word, label, "" if label else nearest_label(word, labels, phrases))


@lru_cache(maxsize=8)
def read_words(file: str = "") -> tuple[str, ...]:
    """Return the standing words in a file, one word per line, "#" begins a comment; "" = the packaged list.

    Raises ValueError, with a remedy, for a file that is missing or has no words.
    """
    if file:
        path = Path(file).expanduser()
        try:
            with path.open("rb") as source:
                data = source.read(_MOST_BYTES + 1)
            text = data.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{path.absolute()} cannot be read ({error}); give a text file, one word a line"
            ) from error
        if len(data) > _MOST_BYTES:
            raise ValueError(
                f"{path} has more than {_MOST_BYTES} bytes; it is to have some hundred words, one a line"
            )
    else:
        text = resources.files("lodestar.perception").joinpath("indoor_words.txt").read_text("utf-8")
    lines = (" ".join(words_of(line.split("#", 1)[0]))[:MOST_LETTERS] for line in text.splitlines())
    words = tuple(dict.fromkeys(line for line in lines if line))
    if not words:
        raise ValueError(
            f"{file} has no words; write one a line, such as chair, or leave the parameter empty"
        )
    return words
