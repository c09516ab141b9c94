"""A second reader of directives: the annotated sentences that are nearest in meaning say what is asked for.

It knows kinds of steps, the things and rooms they are about, and whether something is forbidden; no more. It never
says what to do: it only makes the robot ask back where it is sure and the first reader differs (`two_readers`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lodestar.language.chart import read_data
from lodestar.language.config import NearestConfig
from lodestar.language.directive import StepKind
from lodestar.language.named_nouns import NamedNoun, nouns_of
from lodestar.language.step_kinds import step_spec

#: Unit vectors (N, D) of N texts. Raises LookupError where there are none.
Embed = Callable[[Sequence[str]], np.ndarray]

_THINGS, _ROOMS = ("mug", "table"), ("kitchen", "hall")  # what stands for the slots
_SLOT = re.compile(r"{(\w)}")
_OF_THINGS, _OF_ROOMS = "ab", "rs"


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence with slots. steps: kind and the slot that it is about, "" = none. forbidden: slots."""

    text: str
    steps: tuple[tuple[StepKind, str], ...]
    forbidden: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The sentence with what stands for its slots: as `masked_text` makes it of any other."""
        return filled(self.text, _THINGS, _ROOMS)

    @property
    def classes(self) -> frozenset[str]:
        """Classes of what the robot does, as far as it can be told apart."""
        return frozenset(step_spec(kind).reader_class for kind, _ in self.steps)


@dataclass(frozen=True)
class NearestReading:
    """Meaning of the nearest sentences. shares: of their weight, by class of what is done. forbids: of their weight.

    likeness: cosine of the nearest. heads: last words of the things and rooms that are gone to, by the nearest
    sentence with the same nouns; empty where there is none. kind: of its first step.
    """

    shares: dict[str, float]
    forbids: float
    likeness: float
    kind: StepKind
    heads: tuple[str, ...]
    example: str


@lru_cache(maxsize=1)
def annotated_sentences() -> tuple[AnnotatedSentence, ...]:
    """The packaged sentences, read once per process."""
    found = []
    for meaning, texts in read_data("annotated_sentences.yaml").items():
        steps, forbidden = _meaning(str(meaning))
        found += [AnnotatedSentence(text, steps, forbidden) for text in texts]
    return tuple(found)


def _meaning(said: str) -> tuple[tuple[tuple[StepKind, str], ...], tuple[str, ...]]:
    """Steps and forbidden slots of "go {r}; find {a} ! {s}"."""
    steps, *forbidden = said.split("!")
    found = []
    for step in steps.split(";"):
        slots = _SLOT.findall(step)
        found.append((StepKind[step.split()[0].upper()], slots[0] if slots else ""))
    return tuple(found), tuple(slot for one in forbidden for slot in _SLOT.findall(one))


def filled(text: str, things: Sequence[str], rooms: Sequence[str]) -> str:
    """A sentence with words in its slots."""
    words = dict(zip(_OF_THINGS + _OF_ROOMS, (*things, *rooms)))
    return _SLOT.sub(lambda slot: words[slot[1]], text)


def masked_text(words: Sequence[str], nouns: Sequence[NamedNoun]) -> str:
    """The words with one word for the first thing, one for the others, and the same of rooms."""
    said: list[str] = []
    i, counts = 0, {True: 0, False: 0}
    for noun in nouns:
        said += words[i : noun.begin]
        names = _ROOMS if noun.is_room else _THINGS
        article = "a" if noun.is_any else "the"
        said.append(f"{article} {names[min(counts[noun.is_room], len(names) - 1)]}")
        counts[noun.is_room] += 1
        i = noun.end
    said += words[i:]
    return re.sub(r" ([,.?])", r"\1", " ".join(said))


class NearestReader:
    """Compares sentences with the annotated ones. A sentence costs one vector; the examples' are computed once."""

    def __init__(
        self,
        embed: Embed,
        config: NearestConfig | None = None,
        examples: Iterable[AnnotatedSentence] | None = None,
    ) -> None:
        self.config = config or NearestConfig()
        self._embed = embed
        self.examples = annotated_sentences() if examples is None else tuple(examples)
        self._vectors: np.ndarray | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the examples, whose vectors it needs."""
        return tuple(example.shown for example in self.examples)

    def load(self) -> None:
        """Compute the vectors of the examples now. Raises LookupError where they cannot be had."""
        if self._vectors is None:
            self._vectors = np.asarray(self._embed(self.texts))

    def read(self, words: Sequence[str], nouns: Sequence[NamedNoun] | None = None) -> NearestReading:
        """Return what the sentences nearest to the words mean. Raises LookupError where no vector can be had.

        nouns: what `nouns_of` finds in the words, None = find it.
        """
        nouns = nouns_of(words) if nouns is None else nouns
        vector = np.asarray(self._embed([masked_text(words, nouns)]))[0]
        self.load()
        return self.read_vector(vector, nouns)

    def read_vector(self, vector: np.ndarray, nouns: Sequence[NamedNoun]) -> NearestReading:
        """As `read`, of the unit vector (D,) of a masked text and its nouns."""
        assert self._vectors is not None
        cosines = self._vectors @ vector
        nearest = np.argsort(-cosines)[: self.config.neighbours]
        weights = np.exp((cosines[nearest] - cosines[nearest[0]]) / self.config.temperature)
        weights /= weights.sum()
        shares: dict[str, float] = {}
        for index, weight in zip(nearest, weights):
            for name in self.examples[index].classes:
                shares[name] = shares.get(name, 0.0) + float(weight)
        forbids = sum(float(w) for i, w in zip(nearest, weights) if self.examples[i].forbidden)
        first = self.examples[nearest[0]]
        return NearestReading(
            shares, forbids, float(cosines[nearest[0]]), first.steps[0][0], _heads(first, nouns), first.shown
        )


def _heads(example: AnnotatedSentence, nouns: Sequence[NamedNoun]) -> tuple[str, ...]:
    """The words that stand where the example has what its steps are about; none where its nouns are others."""
    slots = dict.fromkeys(_SLOT.findall(example.text))
    rooms = [noun for noun in nouns if noun.is_room]
    things = [noun for noun in nouns if not noun.is_room]
    wanted = {name: sum(slot in name for slot in slots) for name in (_OF_THINGS, _OF_ROOMS)}
    if wanted != {_OF_THINGS: len(things), _OF_ROOMS: len(rooms)}:
        return ()
    order = {name: [slot for slot in slots if slot in name] for name in (_OF_THINGS, _OF_ROOMS)}
    values = dict(zip(order[_OF_THINGS] + order[_OF_ROOMS], (*things, *rooms)))
    return tuple(values[slot].text for _, slot in example.steps if slot)
