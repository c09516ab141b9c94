"""Part of WordNet 3.0: synonyms and wider nouns for objects and places, and which words are verbs.

`wordnet.txt.gz` is made by `scripts/build_wordnet.py` and begins with WordNet's licence.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

_LEAST_SHARE = 0.2  # least share of a noun's uses; rarer senses are ignored


@dataclass(frozen=True)
class WordNet:
    """Look-ups by lower-case nouns in the singular, words joined by single spaces."""

    words: tuple[tuple[str, ...], ...]  # words of each synset
    wider: tuple[tuple[int, ...], ...]  # wider synsets of each synset
    senses: dict[str, tuple[tuple[int, int], ...]]  # noun -> (synset, frequency), most frequent first
    verbs: dict[str, tuple[int, int]]  # word -> (frequency as a verb, as a noun); -1 = no noun

    def is_noun(self, word: str) -> bool:
        """Return whether the word names a physical object or a place."""
        return word in self.senses

    def is_verb(self, word: str) -> bool:
        """Return whether the word can be a verb."""
        return word in self.verbs

    def is_mostly_verb(self, word: str) -> bool:
        """Return whether the word is a verb more often than a noun."""
        verb, noun = self.verbs.get(word, (-1, 0))
        return verb > noun or (verb >= 0 and noun < 0)

    def synonyms(self, noun: str) -> tuple[str, ...]:
        """Return other words for the noun in its usual senses."""
        found = (word for sense in self._usual(noun) for word in self.words[sense])
        return tuple(dict.fromkeys(word for word in found if word != noun))

    def is_a(self, noun: str, *wider: str) -> bool:
        """Return whether the noun's most frequent sense is one of the wider nouns or a kind of one."""
        usual = self._usual(noun)[:1]
        return noun in wider or any(not self._above(sense).isdisjoint(wider) for sense in usual)

    def _usual(self, noun: str) -> tuple[int, ...]:
        senses = self.senses.get(noun, ())
        least = _LEAST_SHARE * sum(count for _, count in senses)
        return tuple(sense for i, (sense, count) in enumerate(senses) if i == 0 or (count and count >= least))

    def _above(self, sense: int) -> frozenset[str]:
        found: set[str] = set()
        queue, seen = list(self.wider[sense]), {sense}
        while queue:
            synset = queue.pop()
            if synset not in seen:
                seen.add(synset)
                found.update(self.words[synset])
                queue.extend(self.wider[synset])
        return frozenset(found)


@lru_cache(maxsize=1)
def load_wordnet() -> WordNet:
    """Return the packaged part of WordNet, read once per process."""
    data = resources.files("lodestar.models").joinpath("wordnet.txt.gz").read_bytes()
    lines = iter(gzip.decompress(data).decode("utf-8").splitlines())
    words: list[tuple[str, ...]] = []
    wider: list[tuple[int, ...]] = []
    senses: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        if not line:
            break
        parents, _, said = line.partition("\t")
        named = []
        for entry in said.split():
            word, _, count = entry.rpartition(":")
            word = word.replace("_", " ")
            named.append(word)
            senses.setdefault(word, []).append((len(words), int(count)))
        words.append(tuple(named))
        wider.append(tuple(int(parent) for parent in parents.split(",") if parent))
    verbs = {}
    for line in lines:
        word, verb, noun = line.split()
        verbs[word] = (int(verb), int(noun))
    ordered = {word: tuple(sorted(found, key=lambda s: -s[1])) for word, found in senses.items()}
    return WordNet(tuple(words), tuple(wider), ordered, verbs)
