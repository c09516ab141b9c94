"""The words of one noun phrase: its head, what describes it, and how many are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

GENERIC = "object"


@dataclass(frozen=True)
class NounWords:
    """A noun phrase without what follows it.

    words: adjectives and noun as said. head: the noun, singular; "" where only adjectives are said. count: None =
    none said. determiner: its article, "" = none.
    """

    words: tuple[str, ...]
    head: str
    adjectives: tuple[str, ...]
    determiner: str = ""
    count: int | None = None
    is_plural: bool = False

    @property
    def is_anything(self) -> bool:
        """Whether it names no kind of thing."""
        return load_lexicon().is_generic(self.head) or load_vocabulary().is_in("ANYTHING", self.head)

    @property
    def noun(self) -> str:
        """Modifiers that are no known attribute and the head: "crystal ball decoration"."""
        return " ".join((*(a for a in self.adjectives if not describes(a)), self.head)).strip()


def noun_words(words: Sequence[str], determiner: str = "", count: int | None = None) -> NounWords:
    """The parts of a run of open words."""
    lexicon = load_lexicon()
    words = tuple(word for word in words if word not in ("and", ","))
    if not words:
        return NounWords((), "", (), determiner, count)
    if len(words) > 1 and load_vocabulary().is_in("ANYTHING", words[0]):  # "something red"
        return NounWords(words, GENERIC, words[1:], determiner, count)
    length = lexicon.known_suffix(list(words)) or 1
    if length == 1 and len(words) > 1 and is_level(words[-2:]):
        length = 2
    if length == 1 and (describes(words[-1]) and not lexicon.known_suffix(list(words))):
        return NounWords(words, "", words, determiner, count)
    tail = words[-length:]
    several = (count or 1) > 1 or determiner.split(" ")[0] == "all"
    if several and length == 1 and singular(tail[-1]) == tail[-1] and tail[-1].endswith("s"):
        tail = (_stripped(tail[-1]),)  # "two wibbles"
    head = " ".join((*tail[:-1], singular(tail[-1])))
    plural = head != " ".join(words[-length:])
    if lexicon.canonical(" ".join(tail)) is not None and length > 1:
        head = " ".join(tail) if lexicon.canonical(head) is None else head
    return NounWords(words, head, words[:-length], determiner, count, plural)


def singular(word: str) -> str:
    """The singular of a noun; a word that WordNet has as it is stays."""
    lexicon = load_lexicon()
    found = lexicon.singular(word)
    if found == word or lexicon.canonical(found) or load_wordnet().is_noun(found):
        return found
    short = word[:-2] if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")) else word[:-1]
    return short if load_wordnet().is_noun(short) else word


def _stripped(word: str) -> str:
    """An unknown word of which there are several, without its ending."""
    known = load_lexicon().canonical(word) is not None or load_wordnet().is_noun(word) or word.endswith("ss")
    return word if known or word in load_lexicon().unchanging else word[:-1]


def is_level(words: Sequence[str]) -> bool:
    """Whether the last two words are "level 2" or "room b"."""
    if len(words) < 2 or not load_vocabulary().is_in("PLACE_NOUNS", words[-2]):
        return False
    return (
        words[-1][0].isdigit()
        or (len(words[-1]) == 1 and words[-1].isalpha())
        or load_vocabulary().is_in("NUMBER", words[-1])
    )


def describes(word: str) -> bool:
    """Whether a word is an attribute and no thing."""
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    if any(vocabulary.is_in(table, word) for table in ("ORDINAL", "SUPERLATIVE", "SINGLE", "MEASURED")):
        return True
    return (
        lexicon.attribute(word) is not None
        or word in lexicon.ignored_attributes
        or word.endswith(("est", "most"))
    )


def is_place(noun: str) -> bool:
    """Whether a noun in the singular is a room or another place that one is in, by its last words."""
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
