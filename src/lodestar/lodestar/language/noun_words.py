"""Parts of one noun phrase: its head, adjectives, determiner and count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

GENERIC = "object"


@dataclass(frozen=True)
class NounWords:
    """A noun phrase without the words that follow it.

    words: adjectives and noun as said. head: the noun in the singular; "" if there are only adjectives.
    count: None = not said. determiner: its article, "" = none.
    """

    words: tuple[str, ...]
    head: str
    adjectives: tuple[str, ...]
    determiner: str = ""
    count: int | None = None
    is_plural: bool = False

    @property
    def is_anything(self) -> bool:
        """Return whether the head is generic, such as "something", and names no kind of object."""
        return load_lexicon().is_generic(self.head) or load_vocabulary().is_in("ANYTHING", self.head)

    @property
    def noun(self) -> str:
        """Return the head with its modifiers that are no known attributes: "crystal ball decoration"."""
        return " ".join((*(a for a in self.adjectives if not describes(a)), self.head)).strip()


def noun_words(words: Sequence[str], determiner: str = "", count: int | None = None) -> NounWords:
    """Return the parts of a run of name words."""
    lexicon = load_lexicon()
    words = tuple(word for word in words if word not in ("and", ","))
    if not words:
        return NounWords((), "", (), determiner, count)
    if len(words) > 1 and load_vocabulary().is_in("ANYTHING", words[0]):  # as in "something red"
        return NounWords(words, GENERIC, words[1:], determiner, count)
    length = lexicon.known_suffix(list(words)) or 1
    if length == 1 and len(words) > 1 and is_level(words[-2:]):
        length = 2
    if length == 1 and (describes(words[-1]) and not lexicon.known_suffix(list(words))):
        return NounWords(words, "", words, determiner, count)
    tail = words[-length:]
    several = (count or 1) > 1 or determiner.split(" ")[0] == "all"
    if several and length == 1 and singular(tail[-1]) == tail[-1] and tail[-1].endswith("s"):
        tail = (_stripped(tail[-1]),)  # "two wibbles": an unknown plural
    head = " ".join((*tail[:-1], singular(tail[-1])))
    plural = head != " ".join(words[-length:])
    if lexicon.canonical(" ".join(tail)) is not None and length > 1:
        head = " ".join(tail) if lexicon.canonical(head) is None else head
    return NounWords(words, head, words[:-length], determiner, count, plural)


def singular(word: str) -> str:
    """Return the singular of a noun; words that WordNet lists in this form are returned unchanged."""
    lexicon = load_lexicon()
    found = lexicon.singular(word)
    if found == word or lexicon.canonical(found) or load_wordnet().is_noun(found):
        return found
    short = word[:-2] if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")) else word[:-1]
    return short if load_wordnet().is_noun(short) else word


def _stripped(word: str) -> str:
    """Return an unknown plural without its ending."""
    known = load_lexicon().canonical(word) is not None or load_wordnet().is_noun(word) or word.endswith("ss")
    return word if known or word in load_lexicon().unchanging else word[:-1]


def is_level(words: Sequence[str]) -> bool:
    """Return whether the last two words are a numbered place such as "level 2" or "room b"."""
    if len(words) < 2 or not load_vocabulary().is_in("PLACE_NOUNS", words[-2]):
        return False
    return (
        words[-1][0].isdigit()
        or (len(words[-1]) == 1 and words[-1].isalpha())
        or load_vocabulary().is_in("NUMBER", words[-1])
    )


def describes(word: str) -> bool:
    """Return whether a word is an attribute and no noun."""
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    if any(vocabulary.is_in(table, word) for table in ("ORDINAL", "SUPERLATIVE", "SINGLE", "MEASURED")):
        return True
    return (
        lexicon.attribute(word) is not None
        or word in lexicon.ignored_attributes
        or word.endswith(("est", "most"))
    )


def is_place(noun: str) -> bool:
    """Return whether a singular noun is a room or another place to be in, by its last words."""
    lexicon, vocabulary, words = load_lexicon(), load_vocabulary(), noun.split()
    if not words or vocabulary.is_in("THING_NOUNS", *words) or vocabulary.is_in("THING_NOUNS", words[-1]):
        return False
    if len(words) > 1 and lexicon.canonical(noun) is not None:
        return False
    if is_level(words) or lexicon.room_in(noun) is not None or vocabulary.is_in("PLACE_NOUNS", words[-1]):
        return True
    if lexicon.known_suffix(words):
        return False
    return load_wordnet().is_a(words[-1], *vocabulary.phrases("PLACE_KINDS"))
