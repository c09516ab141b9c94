"""Records of noun phrases: a noun, its attributes and its relations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lodestar.language.noun_words import NounWords, is_level, is_place, noun_words, singular
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

HERE = "here"
PEERS = "peers"  # anchor value for "the chair by itself": farthest from objects of its kind
_PLACED = ("Inside", "On", "Near", "From", "NextTo")


@dataclass(frozen=True)
class Relation:
    """A phrase's relation to its anchors. inverse: subject and anchor are exchanged. any_of: one anchor is
    enough.

    text: the speaker's words if no predicate expresses the relation. rank: rank by this relation among
    objects of the same kind, 2 = the second.
    """

    name: str
    anchors: tuple[Phrase, ...] = ()
    negated: bool = False
    inverse: bool = False
    any_of: bool = False
    text: str = ""
    rank: int = 1


@dataclass(frozen=True)
class Viewpoint:
    """The speaker's position and viewing direction, if the text gives them."""

    towards: Phrase | None = None
    at: Phrase | None = None


@dataclass(frozen=True)
class Phrase:
    """One object or place. states: (words, negated) said after the noun.

    rooms: the rooms that it is said to be in. pronoun: the word that stands for something named before, "" =
    none.
    """

    noun: NounWords
    relations: tuple[Relation, ...] = ()
    states: tuple[tuple[str, bool], ...] = ()
    rooms: tuple[Phrase, ...] = ()
    of: Phrase | None = None
    level: str = ""
    pronoun: str = ""
    use: str = ""  # its purpose: "to sit on"
    kind: str = ""  # kind of object that serves the purpose
    either: tuple[str, ...] = ()  # alternative states

    @property
    def head(self) -> str:
        """Return the noun, or all words if there are only adjectives."""
        return self.noun.head or " ".join(self.noun.words)

    @property
    def is_place(self) -> bool:
        """Return whether the phrase is a room or another place to be in."""
        return is_place(self.noun.noun) or is_place(self.noun.head)

    @property
    def is_room(self) -> bool:
        """Return whether the phrase is a place that the vocabulary or the lexicon knows, and no object."""
        lexicon = load_lexicon()
        named = load_vocabulary().is_in("PLACE_NOUNS", self.head.split()[-1] if self.head else "")
        known = named or lexicon.room_in(self.noun.noun) is not None or is_level(self.noun.words)
        return self.is_place and known and lexicon.canonical(self.head) is None

    @property
    def is_whole(self) -> bool:
        """Return whether the phrase means the robot's whole surroundings, such as "the building"."""
        vocabulary = load_vocabulary()
        words = [
            w
            for w in self.noun.words
            if w not in ("whole", "entire", "unexplored", "unknown", "this", "indoor")
        ]
        named = bool(words) and vocabulary.is_in("WHOLE", *(*words[:-1], singular(words[-1])))
        return named and not self.relations and not self.states and not self.rooms

    @property
    def is_spot(self) -> bool:
        """Return whether the phrase is a part of something, such as an end or a corner."""
        return load_vocabulary().is_in("SPOTS", *self.head.split()) and self.pronoun == ""

    @property
    def adjectives_only(self) -> bool:
        """Return whether the noun must come from another phrase: "the red one", "the red"."""
        return not self.pronoun and self.noun.head in ("", "one", "ones")

    def with_noun(self, other: NounWords) -> Phrase:
        """Return the phrase with another phrase's noun in place of "one", keeping its own adjectives."""
        own = tuple(w for w in self.noun.words if w not in ("one", "ones"))
        shared = tuple(a for a in other.adjectives if load_lexicon().attribute(a) is None)
        noun = noun_words(
            (*own, *shared, *other.words[len(other.adjectives) :]), self.noun.determiner, self.noun.count
        )
        return replace(self, noun=noun)

    def with_relations(self, relations: Iterable[Relation]) -> Phrase:
        """Return the phrase with more relations; relations to rooms become its `rooms`."""
        found = self
        for relation in relations:
            found = _related(found, relation)
        return found


@dataclass(frozen=True)
class Things:
    """Several phrases: alternatives (`any_of`) or all of them. excluded: phrases that must not match."""

    phrases: tuple[Phrase, ...]
    any_of: bool = False
    excluded: tuple[Phrase, ...] = ()


def _related(phrase: Phrase, relation: Relation) -> Phrase:
    worn = all(load_vocabulary().is_in("CLOTHES", a.head) for a in relation.anchors) and relation.anchors
    if worn and relation.name == "Inside" and load_wordnet().is_a(phrase.head, "person"):
        relation = replace(relation, name="With", text="wearing")
    if relation.name == "Level":
        return replace(phrase, level=relation.text)
    anchors = relation.anchors
    rank = load_vocabulary().match("ORDINAL", phrase.noun.adjectives, 0)
    if relation.name in ("Closest", "Farthest") and rank is not None and int(rank[1]) > 1:
        relation = replace(relation, rank=int(rank[1]))  # e.g. rank 2 in "the second closest chair"
    if relation.name == "From" and phrase.is_place:
        return phrase  # "the lab at the end of the hall from the office": a hint for the route
    if relation.name in _PLACED and anchors and not relation.inverse:
        ground = relation.name == "On" and all(
            not a.noun.adjectives and a.noun.determiner != "this" for a in anchors
        )
        if ground and len(anchors) == 1 and anchors[0].noun.determiner in _EACH and _is_level(anchors[0]):
            return replace(phrase, level=_level_words(anchors[0]))  # e.g. "the chairs on each floor"
        if ground and all(load_lexicon().canonical(a.head) == "floor" for a in anchors):
            return replace(phrase, relations=(*phrase.relations, relation))
        if all(a.is_whole and not a.noun.adjectives for a in anchors):
            return phrase
        if (
            len(anchors) == 1
            and anchors[0].head == "room"
            and not anchors[0].noun.adjectives
            and not relation.negated
        ):
            beside = [
                r for r in anchors[0].relations if r.name != "With" and not any(a.is_place for a in r.anchors)
            ]
            # e.g. "the chair in the room next to the window": the chair is next to it
            if beside and len(beside) == len(anchors[0].relations):
                return phrase.with_relations(beside)
        placed = all(a.is_place for a in anchors)
        if placed and _is_level(anchors[0]) and not relation.negated:
            level = replace(phrase, level=_level_words(anchors[0]))
            return level.with_relations(anchors[0].relations)  # e.g. "the room on level 2 next to the foyer"
        if placed and not relation.negated and relation.name not in ("Near", "NextTo"):
            return replace(phrase, rooms=(*phrase.rooms, *anchors))
    if relation.name == "From":
        place = 0 if rank is None else int(rank[1])  # e.g. 2 in "the second chair from the door"
        relation = (
            replace(relation, name="Closest", rank=place) if place > 0 else replace(relation, name="On")
        )
    return replace(phrase, relations=(*phrase.relations, relation))


_EACH = ("each", "every", "any", "all", "both")
#: Phrase for the middle of the room.
CENTER = Phrase(NounWords(("center",), "center", (), "the"))


def _level_words(phrase: Phrase) -> str:
    """Return the words of a level, with "each" or "every" if all are meant."""
    noun = phrase.noun
    return " ".join((noun.determiner, *noun.words) if noun.determiner in _EACH else noun.words)


def _is_level(phrase: Phrase) -> bool:
    return bool(phrase.head) and load_vocabulary().is_in("LEVELS", singular(phrase.head.split()[0]))
