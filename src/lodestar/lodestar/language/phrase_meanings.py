"""Conversion of the chart parser's meanings into phrases, for the grammar symbols `noun`, `anchor`, `thing`,
`things` and `pp` (prepositional phrase).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lodestar.language.noun_words import GENERIC, NounWords, noun_words
from lodestar.language.phrases import CENTER, PEERS, Phrase, Relation, Things
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

_SURFACES = ("top", "surface", "front", "bottom")


def things_of(meaning: Any) -> Things:
    """Return the phrases in a meaning of the grammar symbol `things`."""
    if isinstance(meaning, NounWords) or ("list" not in meaning and "options" not in meaning):
        phrases: tuple[Phrase, ...] = (phrase_of(meaning),)
        any_of = False
    else:
        any_of = "options" in meaning
        phrases = _shared(_listed(meaning["options"] if any_of else meaning["list"]))
    but = () if isinstance(meaning, NounWords) else tuple(phrase_of(one) for one in meaning.get("but", ()))
    excluded = tuple(p.with_noun(phrases[-1].noun) if p.adjectives_only else p for p in but)
    if any_of or len(phrases) == 1:
        return replace(options_of(phrases), excluded=excluded)
    return Things(
        phrases,
        any_of or (len(phrases) > 1 and any(r.any_of for p in phrases for r in p.relations)),
        excluded,
    )


def _is_material(phrase: Phrase, named: Phrase) -> bool:
    """Return whether the phrase is a material before a later noun: "glass" of "a glass or metal table"."""
    lexicon = load_lexicon()
    group = lexicon.attribute_group.get(lexicon.attribute(phrase.head) or "")
    others = {lexicon.attribute_group.get(lexicon.attribute(a) or "") for a in named.noun.adjectives}
    return len(phrase.noun.words) == 1 and group is not None and group in others and not named.noun.determiner


def options_of(phrases: Sequence[Phrase]) -> Things:
    """Return one phrase for each alternative that the phrases name.

    Alternatives are the kinds of "something to sit on", the states of "open or closed", and the anchors of
    "by the desk or the bed".
    """
    options = [option for phrase in phrases for option in _of_use(phrase)]
    options = [
        replace(p, states=(*p.states, (s, False)), either=()) for o in options for p, s in _of_states(o)
    ]
    options = [replace(p, states=tuple(s for s in p.states if s[0])) for p in options]
    options = [_with_adjectives(p) for p in options]
    found = tuple(option for phrase in options for option in _anchored(phrase))
    return Things(found, len(found) > 1)


def _of_states(phrase: Phrase) -> list[tuple[Phrase, str]]:
    return [(phrase, state) for state in phrase.either] or [(phrase, "")]


def _with_adjectives(phrase: Phrase) -> Phrase:
    """Return the phrase with its attribute states moved before the noun: "chair that is red" becomes "red
    chair".
    """
    said = tuple(state for state, denied in phrase.states if not denied and load_lexicon().attribute(state))
    if not said or not phrase.noun.head or load_vocabulary().is_in("STATE", *said):
        return phrase
    noun = noun_words((*said, *phrase.noun.words), phrase.noun.determiner, phrase.noun.count)
    return replace(phrase, noun=noun, states=tuple(s for s in phrase.states if s[0] not in said))


def _listed(meaning: dict[str, Any]) -> list[Phrase]:
    found = [phrase_of(one) for one in meaning["items"]]
    return [*found, *_listed(meaning["rest"])] if meaning.get("rest") else found


def _shared(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """Return the phrases with their shared noun and place added: "the red or blue chair", "a mug or a glass
    on the table".
    """
    named = next((p for p in reversed(phrases) if not p.adjectives_only), None)
    first = next((p for p in phrases if not p.adjectives_only), None)
    found = []
    for phrase in phrases:
        if (named is not None and phrase is not named and _is_material(phrase, named)) or (
            phrase.adjectives_only and phrase.noun.head == "" and named is not None
        ):
            found.append(phrase.with_noun(named.noun))
        elif phrase.adjectives_only and first is not None:
            found.append(phrase.with_noun(first.noun))
        else:
            found.append(phrase)
    *before, last = found
    bare = all(not p.relations and not p.rooms and not p.states for p in before)
    alike = all(last.noun.determiner in ("", p.noun.determiner) or p.adjectives_only for p in phrases[:-1])
    if bare and alike and (last.relations or last.rooms):
        before = [replace(p, relations=last.relations, rooms=last.rooms, level=last.level) for p in before]
    return (*before, last)


def _of_use(phrase: Phrase) -> tuple[Phrase, ...]:
    """Return the kinds of objects that serve the phrase's use: "something to sit on" is a chair or a sofa."""
    if not phrase.use or (not phrase.noun.is_anything and phrase.head not in ("place", "spot", "somewhere")):
        return (phrase,)
    found = load_vocabulary().match("USES", phrase.use.split(), 0)
    if found is None:
        return (phrase,)
    kinds = str(found[1]).split(",")
    if len(kinds) == 1:
        return (replace(phrase, kind=kinds[0]),)
    return tuple(
        replace(phrase, noun=noun_words((kind,), phrase.noun.determiner, phrase.noun.count), use="")
        for kind in kinds
    )


def _anchored(phrase: Phrase) -> tuple[Phrase, ...]:
    """Return one phrase for each alternative anchor of a relation: two for "by the desk or the bed"."""
    for i, relation in enumerate(phrase.relations):
        if relation.any_of and not relation.negated and len(relation.anchors) > 1:
            first, *others = relation.anchors
            own = phrase.noun.determiner
            if (
                len(others) == 1
                and others[0].noun.determiner == own != first.noun.determiner
                and not others[0].is_place
            ):
                # "a chair next to the table or a sofa": two objects
                kept = replace(relation, anchors=(first,), any_of=False)
                return (
                    replace(phrase, relations=(*phrase.relations[:i], kept, *phrase.relations[i + 1 :])),
                    others[0],
                )
            options = (replace(relation, anchors=(anchor,)) for anchor in relation.anchors)
            return tuple(
                replace(phrase, relations=(*phrase.relations[:i], option, *phrase.relations[i + 1 :]))
                for option in options
            )
    return (phrase,)


def phrase_of(meaning: Any) -> Phrase:
    """Return the phrase in a meaning of the grammar symbol `noun`, `anchor` or `thing`."""
    if isinstance(meaning, NounWords):
        bare = not meaning.words and not meaning.head
        return _counted(Phrase(meaning, pronoun="one" if bare else ""))
    if "center" in meaning:
        return CENTER
    if "pronoun" in meaning:
        return Phrase(NounWords((), "", ()), pronoun=meaning["pronoun"]).with_relations(_said(meaning))
    noun = meaning.get("value") or NounWords((), GENERIC, ())
    phrase = _counted(Phrase(noun))
    if not noun.words and noun.count and not noun.head:
        phrase = replace(phrase, pronoun="one")
    if meaning.get("use"):
        phrase = replace(phrase, use=str(meaning["use"]))
    if meaning.get("of") is not None:
        phrase = _part_of(phrase, phrase_of(meaning["of"]))
    if meaning.get("owner") is not None:
        owner = phrase_of(meaning["owner"])
        if owner.is_place and not phrase.is_place:
            phrase = replace(phrase, rooms=(owner,))
        elif load_lexicon().canonical(owner.head) is None:  # "jane's office": the owner is part of the name
            words = (*owner.noun.words, *phrase.noun.words)
            phrase = replace(phrase, noun=noun_words(words, phrase.noun.determiner, phrase.noun.count))
        else:
            phrase = replace(phrase, relations=(Relation("Near", (owner,)),))
    phrase = phrase.with_relations(_said(meaning))
    for more in meaning.get("more", ()):
        if "said" in more:
            phrase = phrase.with_relations([relation_of(more["said"])])
        for key, denied in (("states", False), ("denied", True)):
            if key in more:
                phrase = with_state(phrase, more[key], denied)
    return phrase


def _counted(phrase: Phrase) -> Phrase:
    """Return the phrase with a level among its adjectives moved to `level`: "second level closet"."""
    words, vocabulary = phrase.noun.adjectives, load_vocabulary()
    for i, word in enumerate(words):
        if vocabulary.is_in("LEVELS", word):
            start = max(0, i - 1)
            end = i + 1 if i and not (words[i + 1 : i + 2] and words[i + 1].isdigit()) else i + 2
            kept = (*words[:start], *words[end:])
            noun = noun_words(
                (*kept, *phrase.noun.words[len(words) :]), phrase.noun.determiner, phrase.noun.count
            )
            return replace(phrase, noun=noun, level=" ".join(words[start:end]))
    return phrase


def _said(meaning: dict[str, Any]) -> list[Relation]:
    return [relation_of(one) for one in meaning.get("said", ())]


def _part_of(phrase: Phrase, whole: Phrase) -> Phrase:
    """Return the phrase as a part of a whole: "corner of the room".

    A measure, a number or a generic noun takes the whole's noun instead: "stack of boxes" is read as boxes,
    "one of the lamps" as one lamp.
    """
    vocabulary, noun = load_vocabulary(), phrase.noun
    # a side for "the top of the dresser", not for "the top of the two drawers"
    side = phrase.is_spot and (whole.noun.count or 1) < 2
    measure = any(
        vocabulary.is_in("MEASURES", *head.split()) for head in (phrase.head, phrase.head.removesuffix("s"))
    )
    if measure or ((phrase.adjectives_only and not side) or noun.is_anything):
        words = (
            tuple(w for w in noun.words if w not in ("one", "ones") and w != noun.head)
            if noun.head
            else noun.words
        )
        kept = () if measure else words
        merged = noun_words((*kept, *whole.noun.words), whole.noun.determiner, noun.count or 1)
        return replace(whole, noun=merged)
    return replace(phrase, of=whole)


def with_state(phrase: Phrase, meaning: dict[str, Any], denied: bool = False) -> Phrase:
    """Return the phrase with a state: "open", "hanging on the wall", or adjectives after "that is"."""
    if meaning is None:
        return phrase
    if "words" in meaning:
        noun: NounWords = meaning["words"]
        if not noun.head or load_lexicon().attribute(noun.head):
            if denied:
                return replace(phrase, states=(*phrase.states, *((w, True) for w in noun.words)))
            merged = noun_words((*noun.words, *phrase.noun.words), phrase.noun.determiner, phrase.noun.count)
            return replace(phrase, noun=merged)
        return replace(phrase, states=(*phrase.states, (" ".join(noun.words), denied)))
    for key in ("words_or", "words_and", "state_or", "state_and"):
        if key in meaning:
            said = tuple(
                " ".join(one.words) if isinstance(one, NounWords) else str(one) for one in meaning[key]
            )
            if key.endswith("_or") and not denied:
                return replace(phrase, either=said)
            return replace(phrase, states=(*phrase.states, *((one, denied) for one in said)))
    return replace(phrase, states=(*phrase.states, (str(meaning["state"]), denied)))


def relation_of(meaning: dict[str, Any]) -> Relation:
    """Return the relation in a meaning of the grammar symbol `pp` (prepositional phrase)."""
    name = str(meaning["name"])
    to = meaning.get("to")
    anchors: tuple[Phrase, ...] = ()
    any_of = False
    if isinstance(to, dict) and ("all" in to or "any" in to):
        any_of = "any" in to
        anchors = _shared([phrase_of(one) for one in (to["any"] if any_of else to["all"])])
    elif to is not None:
        anchors = (phrase_of(to),)
    elif "anchors" in meaning:
        anchors = tuple(phrase_of(one) for one in meaning["anchors"])
    if name in ("On", "From"):  # e.g. "from the top of the drawers" means on the drawers
        anchors = tuple(a.of if a.of is not None and a.head in _SURFACES else a for a in anchors)
    negated, inverse = bool(meaning.get("negated")), bool(meaning.get("inverse"))
    if name == "Apart":
        return Relation("Farthest", negated=negated, text=PEERS)
    if name == "Center":
        return Relation("Near", (CENTER,), negated)
    if name == "Between" and len(anchors) == 1 and (anchors[0].noun.is_plural or anchors[0].noun.count == 2):
        anchors = (anchors[0], anchors[0])
    rank = int(meaning.get("rank", 1))
    return Relation(name, anchors, negated, inverse, any_of, str(meaning.get("level", "")), rank)
