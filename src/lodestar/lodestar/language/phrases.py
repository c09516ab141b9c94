"""Records of noun phrases: a noun, what is said of it, and what it is related to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lodestar.language.noun_words import NounWords, is_level, is_place, noun_words, singular
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

HERE = "here"
PEERS = "peers"  # the like of a thing, of which it is the farthest: "the chair by itself"
_PLACED = ("Inside", "On", "Near", "From", "NextTo")


@dataclass(frozen=True)
class Relation:
    """A phrase's relation to its anchors. inverse: the anchor is constrained. any_of: one of the anchors is enough.

    text: in the speaker's words, of what fits no predicate. rank: place among the like, 2 = the second.
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
    """The speaker's place and direction of view, as far as the text gives them."""

    towards: Phrase | None = None
    at: Phrase | None = None


@dataclass(frozen=True)
class Phrase:
    """One thing that is talked about. states: words said of it after it, and whether they are denied.

    rooms: where it is said to be; any of them where `in_any`. pronoun: it stands for something named before.
    """

    noun: NounWords
    relations: tuple[Relation, ...] = ()
    states: tuple[tuple[str, bool], ...] = ()
    rooms: tuple[Phrase, ...] = ()
    of: Phrase | None = None
    level: str = ""
    pronoun: str = ""
    use: str = ""  # what it is to serve for: "to sit on"
    kind: str = ""  # of what serves that
    either: tuple[str, ...] = ()  # states of which it has any

    @property
    def head(self) -> str:
        """Its noun, or its words where it has adjectives alone."""
        return self.noun.head or " ".join(self.noun.words)

    @property
    def is_place(self) -> bool:
        """Whether it is a room or a place that one is in."""
        return is_place(self.noun.noun) or is_place(self.noun.head)

    @property
    def is_room(self) -> bool:
        """Whether it is a place by a name that the vocabulary or the lexicon has, and no thing's name."""
        lexicon = load_lexicon()
        named = load_vocabulary().is_in("PLACE_NOUNS", self.head.split()[-1] if self.head else "")
        known = named or lexicon.room_in(self.noun.noun) is not None or is_level(self.noun.words)
        return self.is_place and known and lexicon.canonical(self.head) is None

    @property
    def is_whole(self) -> bool:
        """Whether it means the whole of where the robot is."""
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
        """Whether it is a part of something, such as its end or a corner of it."""
        return load_vocabulary().is_in("SPOTS", *self.head.split()) and self.pronoun == ""

    @property
    def adjectives_only(self) -> bool:
        """Whether its noun is to be taken from elsewhere: "the red one", "the red"."""
        return not self.pronoun and self.noun.head in ("", "one", "ones")

    def with_noun(self, other: NounWords) -> Phrase:
        """The phrase with the noun of another in place of "one"; adjectives are its own."""
        own = tuple(w for w in self.noun.words if w not in ("one", "ones"))
        shared = tuple(a for a in other.adjectives if load_lexicon().attribute(a) is None)
        noun = noun_words(
            (*own, *shared, *other.words[len(other.adjectives) :]), self.noun.determiner, self.noun.count
        )
        return replace(self, noun=noun)

    def with_relations(self, relations: Iterable[Relation]) -> Phrase:
        """The phrase with more relations; a room that it is in becomes where it is."""
        found = self
        for relation in relations:
            found = _related(found, relation)
        return found


@dataclass(frozen=True)
class Things:
    """Several phrases: any of them will do (`any_of`), or all are meant. excluded: what is not meant."""

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
        relation = replace(relation, rank=int(rank[1]))  # "the second closest chair to the door"
    if relation.name == "From" and phrase.is_place:
        return phrase  # "the lab at the end of the hall from the office": a hint for the way
    if relation.name in _PLACED and anchors and not relation.inverse:
        ground = relation.name == "On" and all(
            not a.noun.adjectives and a.noun.determiner != "this" for a in anchors
        )
        if ground and len(anchors) == 1 and anchors[0].noun.determiner in _EACH and _is_level(anchors[0]):
            return replace(phrase, level=_level_words(anchors[0]))  # "the chairs on each floor"
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
            if beside and len(beside) == len(
                anchors[0].relations
            ):  # "the chair in the room next to the window"
                return phrase.with_relations(beside)
        placed = all(a.is_place for a in anchors)
        if placed and _is_level(anchors[0]) and not relation.negated:
            level = replace(phrase, level=_level_words(anchors[0]))
            return level.with_relations(anchors[0].relations)  # "the room on level 2 next to the foyer"
        if placed and not relation.negated and relation.name not in ("Near", "NextTo"):
            return replace(phrase, rooms=(*phrase.rooms, *anchors))
    if relation.name == "From":
        place = 0 if rank is None else int(rank[1])  # "the second chair from the door"
        relation = (
            replace(relation, name="Closest", rank=place) if place > 0 else replace(relation, name="On")
        )
    return replace(phrase, relations=(*phrase.relations, relation))


_EACH = ("each", "every", "any", "all", "both")
#: The middle of the room.
CENTER = Phrase(NounWords(("center",), "center", (), "the"))


def _level_words(phrase: Phrase) -> str:
    """Return the words of a level, with "each" or "every" where all are meant."""
    noun = phrase.noun
    return " ".join((noun.determiner, *noun.words) if noun.determiner in _EACH else noun.words)


def _is_level(phrase: Phrase) -> bool:
    return bool(phrase.head) and load_vocabulary().is_in("LEVELS", singular(phrase.head.split()[0]))
