"""Query graphs of phrases (FARM 2.3)."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive import NotUnderstood
from lodestar.language.noun_words import GENERIC, NounWords
from lodestar.language.phrases import Phrase, Relation
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable, Side
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

MAX_VARIABLES = 16
TOO_MANY = f"more than {MAX_VARIABLES} things are related in one phrase; say it in parts"
#: Share of "the mug on the table next to the window" read as mug on table and mug next to window.
FLAT_READING_WEIGHT = 0.4
SPOT = "spot"
PATH = "path"  # the category of a way between things
_HELD = ("containing", "full", "filled", "contains", "holding")
_WORN = (
    "wearing",
    "dressed in",
    "who is wearing",
    "made of",
    "made from",
    "named",
    "called",
    "labeled",
    "labelled",
    "marked",
)
RANKED_SIDES = ("LeftOf", "RightOf", "Above", "Below")


def graphs_of(phrase: Phrase, with_rooms: bool = False) -> tuple[QueryGraph, ...]:
    """Readings of a phrase, best first; variable 0 is the phrase itself, the weights add up to 1.

    with_rooms: rooms that things are said to be in are predicates; a step has them as its scope instead. A chain of
    two relations may also be read flat, both of the target. Raises NotUnderstood past MAX_VARIABLES.
    """
    nested, flat = _graph(phrase, with_rooms), _flattened(phrase)
    if flat is None:
        return (nested,)
    return (
        replace(nested, weight=1.0 - FLAT_READING_WEIGHT),
        replace(_graph(flat, with_rooms), weight=FLAT_READING_WEIGHT),
    )


def _flattened(phrase: Phrase) -> Phrase | None:
    anchored = [r for r in phrase.relations if r.anchors]
    if len(anchored) != 1 or len(anchored[0].anchors) != 1 or anchored[0].inverse:
        return None
    anchor = anchored[0].anchors[0]
    moved = tuple(r for r in anchor.relations if r.anchors)
    if not moved:
        return None
    first = replace(
        anchored[0], anchors=(replace(anchor, relations=tuple(r for r in anchor.relations if not r.anchors)),)
    )
    others = tuple(r for r in phrase.relations if not r.anchors)
    return replace(phrase, relations=(*others, first, *moved))


def variable_of(phrase: Phrase) -> tuple[QueryVariable, list[tuple[str, str, bool]]]:
    """The variable of a phrase and its predicates without anchors: name, value, denied."""
    lexicon, vocabulary, noun = load_lexicon(), load_vocabulary(), phrase.noun
    attributes: list[str] = []
    modifiers: list[str] = []
    said: list[tuple[str, str, bool]] = []
    rank = 1
    for word in noun.adjectives if noun.head else noun.words:
        attribute = lexicon.attribute(word)
        ordinal = vocabulary.match("ORDINAL", (word,), 0)
        superlative = vocabulary.match("SUPERLATIVE", (word,), 0)
        if superlative is not None:
            if not any(r.name == superlative[1] for r in phrase.relations):
                said.append((str(superlative[1]), "", False))
        elif ordinal is not None:
            rank = int(ordinal[1])
            attributes.append(word)
        elif attribute is not None and not modifiers:
            attributes.append(attribute)
        elif word not in lexicon.ignored_attributes or phrase.is_spot:
            modifiers.append(word)
    head = noun.head or ("" if attributes and not modifiers else GENERIC)
    category = " ".join((*modifiers, head)).strip() or " ".join(noun.words)
    if not noun.head and attributes:
        category, attributes = (" ".join(noun.words), []) if phrase.pronoun == "" else (GENERIC, attributes)
    if noun.is_anything:
        category = " ".join((*modifiers, GENERIC))
    if phrase.pronoun:
        category = phrase.pronoun if phrase.pronoun == "you" else GENERIC
    category = phrase.kind or category
    if category in ("area", "space", "gap", "way", "passage") and any(
        r.name == "Between" for r in phrase.relations
    ):
        category = PATH
    attributes = list(dict.fromkeys(attributes))
    text = " ".join((*attributes, category))
    if noun.head in ("somewhere", "someplace") or phrase.kind:
        text = " ".join((*noun.words, phrase.use)).strip()
    elif phrase.use:
        text = f"{text} {phrase.use}"
    if phrase.of is not None:
        text = f"{text} of {variable_of(phrase.of)[0].phrase}"
    sides = [r for r in phrase.relations if not r.anchors and r.name in RANKED_SIDES]
    if sides and rank != 1:
        attributes = [a for a in attributes if vocabulary.match("ORDINAL", (a,), 0) is None]
    said += [("HasAttribute", attribute, False) for attribute in attributes]
    said += [("HasAttribute", state, denied) for state, denied in phrase.states]
    for relation in sides:
        said.append((relation.name, str(Side(rank)), relation.negated))
    room = lexicon.room_in(category) if phrase.is_place else None
    known = room if room is not None and lexicon.canonical(category) is None else category
    return QueryVariable(text, known), said


def _graph(phrase: Phrase, with_rooms: bool) -> QueryGraph:
    variables: list[QueryVariable] = []
    predicates: list[Predicate] = []

    def add(current: Phrase) -> int:
        index = len(variables)
        if index >= MAX_VARIABLES:
            raise NotUnderstood(TOO_MANY)
        variable, said = variable_of(current)
        variables.append(variable)
        predicates.append(Predicate("IsCategory", (index,), variable.category))
        for name, value, denied in said:
            predicates.append(Predicate(name, (index,), value, denied))
        if current.of is not None and current.is_spot:
            predicates.append(Predicate("Near", (index, add(current.of))))
        for relation in current.relations:
            if relation.anchors or relation.name not in RANKED_SIDES:
                relate(index, relation, current.is_place)
        if with_rooms:
            for room in current.rooms:
                predicates.append(Predicate("InRegion", (index,), variable_of(room)[0].category))
        return index

    def relate(index: int, relation: Relation, is_place: bool) -> None:
        if relation.name == "With":
            for anchor in relation.anchors:
                have(index, anchor, relation, is_place)
            return
        if relation.name == "Between" or not relation.anchors:
            others = tuple(add(anchor) for anchor in relation.anchors)
            predicates.append(Predicate(relation.name, (index, *others), "", relation.negated))
            return
        for anchor in relation.anchors:
            is_room = anchor.is_place and anchor.head not in load_lexicon().structure
            if is_room and relation.name in ("Inside", "On", "From") and not anchor.relations:
                room = variable_of(anchor)[0].category
                predicates.append(Predicate("InRegion", (index,), room, relation.negated))
                continue
            other = add(anchor)
            arguments = (other, index) if relation.inverse else (index, other)
            predicates.append(Predicate(relation.name, arguments, "", relation.negated))

    def have(index: int, anchor: Phrase, relation: Relation, is_place: bool) -> None:
        """ "with a blue cap" is an attribute, "with a lamp" a lamp beside or inside it."""
        variable = variable_of(anchor)[0]
        head = variable.category.split()[-1:]
        known = load_lexicon().known_suffix(variable.category.split()) > 0
        part = load_vocabulary().is_in("PARTS_OF_THINGS", *head) or relation.text in _WORN
        negated = relation.negated
        if known and not part:
            name = "Inside" if is_place or relation.text.split(" ")[0] in _HELD else "NextTo"
            predicates.append(Predicate(name, (add(anchor), index), "", negated))
        else:
            predicates.append(Predicate("HasAttribute", (index,), variable.phrase, negated))

    add(phrase)
    return QueryGraph(tuple(variables), tuple(predicates))


def generic(words: str = GENERIC) -> Phrase:
    """A phrase that any thing fits."""
    return Phrase(NounWords((), words, ()))
