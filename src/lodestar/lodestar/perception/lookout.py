"""Keeps a detector looking for the standing words and for those of the directive, and tells what it can see of them."""

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

_MOST_BYTES = 100_000  # of a file of words
MOST_LETTERS = 64  # of a word: what text models read of a phrase is not much more


@dataclass(frozen=True)
class WantedWords:
    """Nouns of the directive that runs, in the singular. id: of this set, which no other has."""

    id: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class WordSight:
    """A wanted word. label: of the detector for such a thing, "" = none. nearest: of its labels, where none fits."""

    word: str
    label: str = ""
    nearest: str = ""


@dataclass(frozen=True)
class VocabularyReport:
    """Answer of a detector to wanted words. names: every label of one that is closed.

    wanted_id: of the words that it answers, "" = none have come. problem: why it does not look for them, "" = it does.
    """

    wanted_id: str = ""
    detector: str = ""
    is_open: bool = False
    names: tuple[str, ...] = ()
    words: tuple[WordSight, ...] = ()
    problem: str = ""

    def answering(self, wanted: WantedWords) -> VocabularyReport:
        """Return the answer to other words, as far as this one tells it; by the lexicon alone."""
        if wanted.id == self.wanted_id:
            return self
        labels = wanted.words if self.is_open else self.names
        words = tuple(_sight(word, labels, None) for word in wanted.words)
        return VocabularyReport(wanted.id, self.detector, self.is_open, self.names, words, self.problem)

    @property
    def unseen(self) -> tuple[WordSight, ...]:
        """Return the words that it cannot see."""
        return tuple(word for word in self.words if not word.label)

    @property
    def sentence(self) -> str:
        """Return what it cannot see, for a person; "" where it sees everything."""
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
    """Gives words to a detector. One thread calls it, which may be another than that of the images.

    standing: words that are always looked for by a detector that is open. limit: of all its words.
    phrases: to find the nearest label; without vectors the lexicon does.
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
        self._looked_for: tuple[str, ...] = ()  # newest words that the detector took

    def look_for(self, wanted: WantedWords) -> VocabularyReport:
        """Look for the standing words and these, in place of those before; return what can be seen of these.

        An open detector may take seconds to encode them.
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
        """Return the words for an open detector: none twice, nor a synonym of a standing one."""
        new = [word for word in words if kind_of(word) not in self._kinds]
        return tuple(dict.fromkeys((*new, *self._standing)))[: self._limit]


def _sight(word: str, labels: Sequence[str], phrases: PhraseBook | None) -> WordSight:
    label = label_for(word, labels)
    return WordSight(word, label, "" if label else nearest_label(word, labels, phrases))


@lru_cache(maxsize=8)
def read_words(file: str = "") -> tuple[str, ...]:
    """Return the standing words of a file, one a line, "#" begins a comment; "" = the packaged list.

    Raises ValueError, with what to do, for a file that is missing or has no words.
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
