"""Everyday nouns and attributes: synonyms and hypernyms.

Shared by the parser, the scene dictionary and the query scorer. Open-vocabulary words may be missing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

import yaml

ATTRIBUTE_GROUPS = ("colors", "materials", "sizes", "others")
#: Prepositions and other words that end the noun of a phrase.
_AFTER_NOUN = frozenset(
    {"of", "with", "on", "in", "at", "by", "from", "for", "next", "near", "under", "behind"}
)
# most phrases whose words and singular are cached: a sentence looks up the same ones hundreds of times
_MOST_KEPT = 8192


def words_of(text: str) -> list[str]:
    """Return the lower-case words of any script; apostrophes and hyphens stay inside a word."""
    return list(_words_of(text))


@lru_cache(maxsize=_MOST_KEPT)
def _words_of(text: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    characters = [
        c if c.isalnum() or (c in "'-" and 0 < i < len(text) - 1 and text[i - 1].isalnum()) else " "
        for i, c in enumerate(text)
    ]
    return tuple(word for word in (w.strip("'-") for w in "".join(characters).split()) if word)


@dataclass(frozen=True)
class Noun:
    """One noun of the lexicon, with its hypernyms and related nouns."""

    name: str
    is_a: tuple[str, ...] | None = None  # hypernyms; None = not stated, the head noun decides
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """Look-ups over `lexicon.yaml`. Phrases are lower-case words joined by single spaces."""

    nouns: dict[str, Noun]
    canonical_noun: dict[str, str]
    canonical_attribute: dict[str, str]
    attribute_group: dict[str, str]
    ignored_attributes: frozenset[str]
    generic_nouns: frozenset[str]
    structure: frozenset[str]
    irregular_plurals: dict[str, str]
    unchanging: frozenset[str]
    plurals: frozenset[str]  # plurals among the unchanging nouns
    rooms: dict[str, str]
    room_evidence: dict[str, dict[str, float]]
    found_in: dict[str, dict[str, float]]
    uses: dict[str, tuple[str, ...]]
    longest_noun: int = 1
    _wider: dict[str, frozenset[str]] = field(default_factory=dict)
    _singular: dict[str, str] = field(default_factory=dict)
    _begins: dict[str, int] = field(default_factory=dict)

    def singular(self, word: str) -> str:
        """Return the singular of an English noun; other words unchanged."""
        if word in self.irregular_plurals:
            return self.irregular_plurals[word]
        if len(word) == 3 and word[:-1] + "s" == word and word[:-1] in self.canonical_noun:
            return word[:-1]
        if (
            word in self.unchanging
            or len(word) < 4
            or not word.endswith("s")
            or word.endswith(("ss", "us", "is"))
        ):
            return word
        if word.endswith("ies"):
            return word[:-3] + "y"
        if word.endswith(("sses", "shes", "ches", "xes", "zes")):
            return word[:-2]
        return word[:-1]

    def is_plural(self, phrase: str) -> bool:
        """Return whether the noun of a phrase is a plural: of "white shoes", not of "box of shoes"."""
        words = words_of(phrase)
        end = next((k for k, word in enumerate(words) if k and word in _AFTER_NOUN), len(words))
        noun = words[end - 1] if words else ""
        return noun in self.plurals or self.singular(noun) != noun

    def singular_phrase(self, phrase: str) -> str:
        """Return the phrase with its last word in the singular; known phrases unchanged."""
        known = self._singular.get(phrase)
        if known is None:
            if len(self._singular) >= _MOST_KEPT:
                self._singular.clear()
            known = self._singular[phrase] = self._singular_of(phrase)
        return known

    def _singular_of(self, phrase: str) -> str:
        words = words_of(phrase)
        text = " ".join(words)
        if not words or text in self.canonical_noun:
            return text
        return " ".join([*words[:-1], self.singular(words[-1])])

    def canonical(self, phrase: str) -> str | None:
        """Return the lexicon's canonical name of a noun phrase, or None if it is unknown."""
        return self.canonical_noun.get(self.singular_phrase(phrase))

    def known_suffix(self, words: list[str]) -> int:
        """Return the number of trailing words that form the longest known noun; 0 = none."""
        for length in range(min(self.longest_noun, len(words)), 0, -1):
            if self.canonical(" ".join(words[-length:])) is not None:
                return length
        return 0

    def known_prefix(self, words: list[str]) -> int:
        """Return the number of leading words that form the longest known noun; 0 = none."""
        return self._noun_at(words, 0)

    def is_generic(self, phrase: str) -> bool:
        """Return whether the phrase means any object ("thing")."""
        return self.singular_phrase(phrase) in self.generic_nouns

    def wider(self, name: str) -> frozenset[str]:
        """Return all hypernyms of a canonical noun, without itself."""
        cached = self._wider.get(name)
        if cached is None:
            found: set[str] = set()
            queue = list(self._parents(name))
            while queue:
                parent = queue.pop()
                if parent not in found and parent != name:
                    found.add(parent)
                    queue.extend(self._parents(parent))
            cached = self._wider[name] = frozenset(found)
        return cached

    def _parents(self, name: str) -> tuple[str, ...]:
        noun = self.nouns.get(name)
        return noun.is_a if noun is not None and noun.is_a is not None else ()

    def attribute(self, word: str) -> str | None:
        """Return the canonical attribute of one word, or None."""
        if word.endswith(("-colored", "-coloured")):
            word = word.rsplit("-", 1)[0]
        return self.canonical_attribute.get(word)

    def attributes_in(self, text: str) -> tuple[str, ...]:
        """Return the canonical attributes that a caption names, in order.

        Words inside a known noun do not count, except a material before a name of the same noun: "a red
        office chair made of wood" has red and wooden, "cardboard box" cardboard; "a glass of wine" has none.
        Words in quotation marks, which are a sign's text, do not count either.
        """
        words = words_of(_QUOTED.sub(" ", text))
        found: list[str] = []
        i = 0
        while i < len(words):
            attribute = self.attribute(words[i])
            length = self._noun_at(words, i)
            whole = length > 1 and not self._made_of(words[i : i + length])
            if attribute is not None and not whole and self._modifies(words, i):
                if attribute not in found:
                    found.append(attribute)
                i += 1
            else:
                i += max(length, 1)
        return tuple(found)

    def _noun_at(self, words: list[str], i: int) -> int:
        longest = self._longest_from(words[i]) if i < len(words) else 0
        for length in range(min(longest, len(words) - i), 0, -1):
            if self.canonical(" ".join(words[i : i + length])) is not None:
                return length
        return 0

    def _longest_from(self, word: str) -> int:
        """Return the most words that a known noun beginning with this word may have."""
        if not self._begins:
            for name in self.canonical_noun:
                first, length = name.split()[0], len(name.split())
                self._begins[first] = max(length, self._begins.get(first, 1))
        return self._begins.get(word, 1) if word.isalnum() else self.longest_noun

    def _made_of(self, noun: list[str]) -> bool:
        """Return whether a noun is a material and the same noun: "cardboard box", not "paper shredder"."""
        whole, rest = self.canonical(" ".join(noun)), self.canonical(" ".join(noun[1:]))
        material = self.attribute_group.get(self.attribute(noun[0]) or "") == "materials"
        return material and noun[0] not in self.canonical_noun and rest == whole

    def _modifies(self, words: list[str], i: int) -> bool:
        """Return whether the attribute word at i modifies a noun: "glass" alone or before "of" is an object."""
        if words[i] not in self.canonical_noun:
            return True
        after = words[i + 1] if i + 1 < len(words) else ""
        before = words[i - 1] if i else ""
        return before in ("of", "in") or (after not in ("", "of", "and", "on", "in", "with"))

    def room(self, phrase: str) -> str | None:
        """Return the canonical room name of a phrase, or None if it names no room.

        A numbered room is "room 204".
        """
        found = self.rooms.get(self.singular_phrase(phrase))
        if found is None and any(c.isdigit() for c in phrase):
            marks = self.room_marks(phrase)
            return f"room {marks}" if _NUMBER.fullmatch(marks) else None
        return found

    def room_marks(self, phrase: str) -> str:
        """Return the words after a kind of room: "204" of "office 204" or "room 204"; "" = none."""
        words = words_of(phrase)
        for length in range(min(2, len(words) - 1), 0, -1):
            kind = " ".join(words[:length])
            if kind == "room" or kind in self.rooms:
                return " ".join(words[length:])
        return ""

    def room_in(self, category: str) -> str | None:
        """Return the canonical room named by a longer noun, such as "master bedroom" or "kitchen area", or None."""
        words = category.split()
        while words:
            for start in range(len(words)):
                room = self.room(" ".join(words[start:]))
                if room is not None:
                    return room
            if words.pop() not in _EXTENTS_OF_ROOMS:
                return None
        return None


_QUOTED = re.compile(r'"[^"]*"')
# room numbers: 204, a12, b-201, 12b, 1-204
_NUMBER = re.compile(r"[a-z]{0,2}-?\d{1,4}[a-z]?(?:[.-]\d{1,3}[a-z]?)?")
_EXTENTS_OF_ROOMS = frozenset({"area", "zone", "section", "part", "space", "room", "side"})


def _build(data: dict) -> Lexicon:
    nouns: dict[str, Noun] = {}
    canonical: dict[str, str] = {}
    for name, entry in data["nouns"].items():
        parents = entry.get("is_a")
        nouns[name] = Noun(name, None if parents is None else tuple(parents), tuple(entry.get("near", ())))
        canonical.setdefault(name, name)
    for name, entry in data["nouns"].items():
        for synonym in entry.get("also", ()):
            canonical.setdefault(synonym, name)
    attributes: dict[str, str] = {}
    groups: dict[str, str] = {}
    for group in ATTRIBUTE_GROUPS:
        for name, synonyms in data[group].items():
            groups[name] = group
            for word in (name, *synonyms):
                attributes.setdefault(word, name)
    rooms = {room: data["room_synonyms"].get(room, room) for room in data["rooms"]}
    rooms.update(data["room_synonyms"])
    return Lexicon(
        nouns=nouns,
        canonical_noun=canonical,
        canonical_attribute=attributes,
        attribute_group=groups,
        ignored_attributes=frozenset(data["ignored_attributes"]),
        generic_nouns=frozenset(data["generic_nouns"]),
        structure=frozenset(data["structure"]),
        irregular_plurals=data["irregular_plurals"],
        unchanging=frozenset(data["unchanging"]),
        plurals=frozenset(data["plurals"]),
        rooms=rooms,
        room_evidence=data["room_evidence"],
        found_in=data["found_in"],
        uses={name: tuple(uses) for name, uses in data["uses"].items()},
        longest_noun=max(len(name.split()) for name in canonical),
    )


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the packaged lexicon, read once per process."""
    text = resources.files("lodestar.models").joinpath("lexicon.yaml").read_text(encoding="utf-8")
    return _build(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
