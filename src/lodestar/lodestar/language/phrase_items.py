"""Conversion of phrases into items, scopes and levels, and checks of the objects they name."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive import EVERY, Item, NotUnderstood, Scope
from lodestar.language.levels import level_of
from lodestar.language.noun_words import noun_words, singular
from lodestar.language.phrase_graphs import graphs_of
from lodestar.language.phrases import Phrase, Things
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

_ANY = frozenset({"any", "some", "whichever", "whatever"})
_ALL = frozenset({"all", "every", "each"})


def colors_apart(phrase: Phrase) -> tuple[Phrase, ...]:
    """Return "red and blue chairs" as two phrases, red chairs and blue chairs."""
    groups = load_lexicon().attribute_group
    found = {a: groups.get(load_lexicon().attribute(a) or "") for a in phrase.noun.adjectives}
    colors = [a for a, group in found.items() if group in ("colors", "materials")]
    if len(colors) < 2 or not phrase.noun.is_plural:
        return (phrase,)
    rest = [w for w in phrase.noun.words if w not in colors]
    return tuple(
        replace(phrase, noun=noun_words((color, *rest), phrase.noun.determiner, phrase.noun.count))
        for color in colors
    )


def barred_things(phrase: Phrase, said: str) -> tuple[Phrase, ...]:
    """Return the phrases to keep away from; "the end of a table" becomes the table.

    Raises NotUnderstood if the phrase names no object, or everything.
    """
    vocabulary = load_vocabulary()
    if (
        phrase.noun.words
        and all(vocabulary.is_in("GO_NEAR", w) for w in phrase.noun.words)
        and not phrase.noun.determiner
    ):
        raise NotUnderstood(f'"{said}" what? say what to keep away from')
    part = (
        phrase.is_spot
        or vocabulary.is_in("SPOT_WORDS", phrase.head)
        or phrase.head in ("zone", "region", "space")
    )
    if part and not any(r.name == "Between" for r in phrase.relations):
        whole = (
            *((phrase.of,) if phrase.of is not None else ()),
            *(a for r in phrase.relations for a in r.anchors),
        )
        whole = whole or phrase.rooms
        if whole and not any(one.is_whole for one in whole):
            return tuple(whole)
        if whole:
            raise NotUnderstood("it asks to keep away from everything, which leaves nowhere to go")
        if not phrase.noun.adjectives:
            raise NotUnderstood(f'"the {phrase.head}" is no thing; say what is there')
    if phrase.is_whole and not phrase.noun.adjectives:
        raise NotUnderstood("it asks to keep away from everything, which leaves nowhere to go")
    return (phrase,)


def is_all(phrase: Phrase) -> bool:
    """Return whether the phrase means all objects of its kind: "all chairs"."""
    return phrase.noun.determiner.split(" ")[0] in _ALL


def is_any(phrase: Phrase) -> bool:
    """Return whether any object of its kind satisfies the phrase: "any room", "every path"."""
    return is_all(phrase) or phrase.noun.determiner.split(" ")[0] in _ANY


def item_of(things: Things, every: bool = False, with_rooms: bool = False) -> Item:
    """Return the item of one or several phrases, each an alternative.

    Raises NotUnderstood for a count below 1. every: all matching objects are wanted. with_rooms: see
    `graphs_of`.
    """
    counts = [p.noun.count for p in things.phrases if p.noun.count is not None]
    count = EVERY if every else max(counts, default=1)
    if not every and counts and min(counts) < 1:
        raise NotUnderstood("it asks for none of a thing, or fewer; ask for one at least")
    excluded = tuple(graphs_of(phrase, True)[0] for phrase in things.excluded)
    return Item(tuple(graphs_of(phrase, with_rooms) for phrase in things.phrases), excluded, count=count)


def scope_of(phrase: Phrase, own: bool = True) -> Scope:
    """Return the rooms and the level that a phrase names, as a scope.

    own: include the rooms that its object is said to be in.
    """
    rooms: list[Phrase] = []

    def collect(current: Phrase) -> None:
        rooms.extend(room for room in current.rooms if not room.is_whole)
        for relation in current.relations:
            for anchor in relation.anchors:
                if not relation.negated:
                    collect(anchor)

    if own:
        collect(phrase)
    anchors = [anchor for relation in phrase.relations for anchor in relation.anchors]
    own_level = " ".join(phrase.noun.words) if load_vocabulary().is_in("LEVELS", phrase.head) else ""
    level = level_of(phrase.level or own_level or next((p.level for p in (*rooms, *anchors) if p.level), ""))
    return Scope(tuple(graphs_of(room)[0] for room in rooms), level)


def is_level(phrase: Phrase) -> bool:
    """Return whether a phrase means a floor of the building: "the second floor", "all floors"."""
    return bool(phrase.head) and load_vocabulary().is_in("LEVELS", singular(phrase.head.split()[-1]))


def says_what(phrase: Phrase) -> bool:
    """Return whether the phrase describes an object by more than a generic word such as "something"."""
    return bool(phrase.relations or phrase.states or phrase.noun.adjectives or phrase.kind or phrase.rooms)


def check_is_thing(phrase: Phrase) -> None:
    """Raise NotUnderstood for a time, a length or a number, which is no object to look for."""
    vocabulary = load_vocabulary()
    words = phrase.noun.words
    for relation in phrase.relations:
        for anchor in relation.anchors:
            check_is_thing(anchor)
    if words and all(vocabulary.is_in("UNITS", w.removesuffix("s")) for w in words) and phrase.noun.head:
        said = " ".join((*((phrase.noun.determiner,) if phrase.noun.determiner else ()), *words))
        raise NotUnderstood(f'"{said}" is a measure, and nothing to look for; name the thing')
