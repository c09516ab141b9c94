"""Conversion of noun phrases into query graphs (FARM 2.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lodestar.language.directive import NotUnderstood
from lodestar.language.noun_words import GENERIC, NounWords
from lodestar.language.phrases import PEERS, Phrase, Relation, Viewpoint
from lodestar.language.query_graph import PATH, VIEWED, Predicate, QueryGraph, QueryVariable, Side
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

MAX_VARIABLES = 16
TOO_MANY = f"more than {MAX_VARIABLES} things are related in one phrase; say it in parts"
#: Weight of the reading of "the mug on the table next to the window" as mug on table and mug next to window.
FLAT_READING_WEIGHT = 0.4
SPOT = "spot"
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
SIDES = ("LeftOf", "RightOf", "InFrontOf", "Behind", "Above", "Below")
COUNTED = (*SIDES, "Closest", "Farthest")
SINGLED = (*COUNTED, "Between", "Rows")


def graphs_of(
    phrase: Phrase, with_rooms: bool = False, viewpoint: Viewpoint | None = None
) -> tuple[QueryGraph, ...]:
    """Return the readings of a phrase, best first; their weights add up to 1.

    Variable 0 is the phrase's object. with_rooms: express the rooms of objects as InRegion predicates; not
    used for steps, whose scope states the rooms. viewpoint: the viewer for left and right. A phrase with two
    relations, such as "A on B near C", is read as "B near C" and, with less weight, as "A near C". Raises
    NotUnderstood above MAX_VARIABLES.
    """
    nested, flat = _graph(phrase, with_rooms, viewpoint), _flattened(phrase)
    if flat is None:
        return (nested,)
    return (
        replace(nested, weight=1.0 - FLAT_READING_WEIGHT),
        replace(_graph(flat, with_rooms, viewpoint), weight=FLAT_READING_WEIGHT),
    )


def _flattened(phrase: Phrase) -> Phrase | None:
    anchored = [r for r in phrase.relations if r.anchors]
    if len(anchored) != 1 or len(anchored[0].anchors) != 1 or anchored[0].inverse:
        return None
    anchor = anchored[0].anchors[0]
    moved = tuple(r for r in anchor.relations if r.anchors or r.name in SIDES)
    if not moved:
        return None
    kept = tuple(r for r in anchor.relations if r not in moved)
    first = replace(anchored[0], anchors=(replace(anchor, relations=kept),))
    others = tuple(r for r in phrase.relations if not r.anchors)
    return replace(phrase, relations=(*others, first, *moved))


@dataclass
class _Adjectives:
    """Meaning of the words before a noun.

    singled: (name, value) of predicates that select one object among others of its kind. told: the words that
    express `singled`. rank: 2 = the second.
    """

    attributes: list[str] = field(default_factory=list)
    modifiers: list[str] = field(default_factory=list)
    singled: list[tuple[str, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    rank: int = 1


def _adjectives(phrase: Phrase) -> _Adjectives:
    lexicon, vocabulary, noun = load_lexicon(), load_vocabulary(), phrase.noun
    found = _Adjectives()
    for word in noun.adjectives if noun.head else noun.words:
        attribute = lexicon.attribute(word)
        ordinal, superlative, single, measured = (
            vocabulary.match(table, (word,), 0) for table in ("ORDINAL", "SUPERLATIVE", "SINGLE", "MEASURED")
        )
        if superlative is not None:
            if not any(r.name == superlative[1] for r in phrase.relations):
                found.singled.append((str(superlative[1]), ""))
        elif ordinal is not None:
            found.rank = int(ordinal[1])
            found.attributes.append(word)
        elif single is not None and not phrase.is_spot:
            found.singled.append(("Farthest", PEERS) if single[1] == "Apart" else (str(single[1]), ""))
            found.told.append(word)
        elif measured is not None:
            found.attributes.append(str(measured[1]))
        elif attribute is not None and not found.modifiers:
            found.attributes.append(attribute)
        elif word not in lexicon.ignored_attributes or phrase.is_spot:
            found.modifiers.append(word)
    return found


def variable_of(phrase: Phrase) -> tuple[QueryVariable, list[tuple[str, str, bool]]]:
    """Return the variable of a phrase and its predicates without anchors as (name, value, negated)."""
    lexicon, vocabulary, noun = load_lexicon(), load_vocabulary(), phrase.noun
    before = _adjectives(phrase)
    attributes, modifiers = before.attributes, before.modifiers
    nothing = phrase.is_spot or (attributes and not modifiers)
    head = noun.head or ("" if nothing else GENERIC)
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
    singled = _singled(phrase, before)
    ranks = {
        *(Side.of(value).rank for _, value, _ in singled),
        *(r.rank for r in phrase.relations if r.rank > 1),
    }
    if before.rank in ranks:
        ordinals = [a for a in attributes if vocabulary.match("ORDINAL", (a,), 0) is not None]
        before.told = [*(o for o in ordinals if before.rank > 1), *before.told]
        attributes = [a for a in attributes if a not in ordinals]
    text = " ".join((*before.told, *attributes, category))
    if noun.head in ("somewhere", "someplace") or phrase.kind:
        text = " ".join((*noun.words, phrase.use)).strip()
    elif phrase.use:
        text = f"{text} {phrase.use}"
    if phrase.of is not None:
        text = f"{text} of {variable_of(phrase.of)[0].phrase}"
    said = [*singled, *(("HasAttribute", attribute, False) for attribute in attributes)]
    said += [("HasAttribute", state, denied) for state, denied in phrase.states]
    room = lexicon.room_in(category) if phrase.is_place else None
    known = room if room is not None and lexicon.canonical(category) is None else category
    return QueryVariable(text, known), said


def _singled(phrase: Phrase, before: _Adjectives) -> list[tuple[str, str, bool]]:
    """Return the predicates that select one object among others of its kind: a side, a rank, the middle.

    If two words state a rank, the higher one counts.
    """
    named = dict.fromkeys(before.singled, False)
    ranks: dict[str, int] = {}
    for relation in phrase.relations:
        if not relation.anchors and relation.name in SINGLED:
            named.setdefault((relation.name, relation.text), relation.negated)
            ranks[relation.name] = max(relation.rank, ranks.get(relation.name, 1))
    found = []
    for (name, value), negated in named.items():
        name, value = ("Between", "rows") if name == "Rows" else (name, value)
        if name in COUNTED and not value:
            value = str(Side(max(before.rank, ranks.get(name, 1), 1)))
        found.append((name, value, negated))
    return found


def _graph(phrase: Phrase, with_rooms: bool, viewpoint: Viewpoint | None) -> QueryGraph:
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
            if relation.anchors:
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
        if relation.name == "Between":
            others = tuple(add(anchor) for anchor in relation.anchors)
            predicates.append(Predicate(relation.name, (index, *others), "", relation.negated))
            return
        rank = str(Side(relation.rank)) if relation.name in COUNTED else ""
        for anchor in relation.anchors:
            is_room = anchor.is_room if with_rooms else anchor.is_place
            is_room = is_room and anchor.head not in load_lexicon().structure
            if is_room and relation.name in ("Inside", "On", "From") and not anchor.relations:
                room = variable_of(anchor)[0].category
                predicates.append(Predicate("InRegion", (index,), room, relation.negated))
                continue
            other = add(anchor)
            arguments = (other, index) if relation.inverse else (index, other)
            negated = relation.negated != (anchor.noun.count == 0)
            predicates.append(Predicate(relation.name, arguments, rank, negated))

    def have(index: int, anchor: Phrase, relation: Relation, is_place: bool) -> None:
        """Add "with a blue cap" as an attribute, "with a lamp" as a lamp beside or inside the object."""
        variable = variable_of(anchor)[0]
        head = variable.category.split()[-1:]
        known = load_lexicon().known_suffix(variable.category.split()) > 0
        part = load_vocabulary().is_in("PARTS_OF_THINGS", *head) or relation.text in _WORN
        negated = relation.negated != (anchor.noun.count == 0)  # "with 0 chairs" is a negation
        if known and not part:
            name = "Inside" if is_place or relation.text.split(" ")[0] in _HELD else "NextTo"
            predicates.append(Predicate(name, (add(anchor), index), "", negated))
        else:
            predicates.append(Predicate("HasAttribute", (index,), variable.phrase, negated))

    add(phrase)
    if viewpoint is not None:
        towards = -1 if viewpoint.towards is None else add(viewpoint.towards)
        at = -1 if viewpoint.at is None else add(viewpoint.at)
        predicates = [_seen(p, towards, at) for p in predicates]
    return QueryGraph(tuple(variables), tuple(predicates))


def _seen(predicate: Predicate, towards: int, at: int) -> Predicate:
    """Return the predicate; if it is a side of the target, the viewpoint is added."""
    if predicate.name not in VIEWED or predicate.arguments[0] != 0:
        return predicate
    return replace(predicate, value=str(Side(predicate.side.rank, towards, at)))


def generic(words: str = GENERIC) -> Phrase:
    """Return a phrase that fits any object."""
    return Phrase(NounWords((), words, ()))
