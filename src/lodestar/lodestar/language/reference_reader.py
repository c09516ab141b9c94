"""Parser of referring expressions: combines the statements (remarks) of a text about an object into a target,
its description and a viewpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lodestar.language.chart import Lexeme, Reading, load_chart
from lodestar.language.lattice import lattice_of
from lodestar.language.noun_words import GENERIC, NounWords, noun_words
from lodestar.language.phrase_graphs import SIDES, generic, graphs_of
from lodestar.language.phrase_meanings import phrase_of, relation_of, things_of
from lodestar.language.phrases import CENTER, Phrase, Relation, Things, Viewpoint
from lodestar.language.query_graph import QueryGraph
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

#: Parts of an object that one stands at to face it.
_FACING_PARTS = frozenset({"front", "foot", "end"})
_RELATING = frozenset({"REL", "BETWEEN", "CLOSE", "FAR", "SIDE"})
MAX_PART = 40  # words parsed at once; a longer text is parsed in parts


@dataclass(frozen=True)
class _Named:
    """Objects that a remark names.

    sure: certainty that they are the target, 2 = said with "choose the". is_there: said with "there is".
    """

    things: Things
    sure: int = 0
    is_there: bool = False


@dataclass
class _Remarks:
    """Contents of all remarks of a text: named objects, descriptions, denied objects and viewpoint."""

    named: list[_Named] = field(default_factory=list)
    # (number of names before it, description of the last name)
    said: list[tuple[int, Phrase]] = field(default_factory=list)
    denied: list[Phrase] = field(default_factory=list)
    group: Phrase | None = None
    towards: Phrase | None = None
    at: Phrase | None = None


def read_reference(words: Sequence[str]) -> tuple[QueryGraph, ...]:
    """Return the query graphs of the described object, best first; empty if no object is named."""
    remarks = _Remarks()
    for part in _parts(words):
        for remark in _read(part):
            _take_in(remarks, remark)
    target, alternatives = _target(remarks)
    if target is None:
        return ()
    viewpoint = None
    if remarks.towards is not None or remarks.at is not None:
        viewpoint = Viewpoint(remarks.towards, remarks.at)
    found = [graphs_of(phrase, True, viewpoint) for phrase in (target, *alternatives)]
    return tuple(graph for graphs in found for graph in graphs)


def _parts(words: Sequence[str]) -> list[list[str]]:
    """Return the words in parts of at most MAX_PART, cut after a full stop, else after a comma, else
    anywhere.
    """
    words = [STOP if word == QUESTION else word for word in words]
    vocabulary = load_vocabulary()
    for i in range(len(words) - 1):
        if words[i] in ("other", "others") and vocabulary.match("NUMBER", words, i + 1) is not None:
            words[i], words[i + 1] = words[i + 1], "other"  # "the other two" as "the two other"
    words = _without_degree(words)
    parts = []
    while len(words) > MAX_PART:
        ends = [i + 1 for i in range(MAX_PART) if words[i] == STOP] or [
            i + 1 for i in range(MAX_PART) if words[i] == COMMA
        ]
        end = ends[-1] if ends else MAX_PART
        parts.append(words[:end])
        words = words[end:]
    return [*parts, words] if words else parts


def _without_degree(words: Sequence[str]) -> list[str]:
    """Return the words without adverbs before a relation: "diagonally" of "diagonally across from"."""
    vocabulary, kept, i = load_vocabulary(), [], 0
    while i < len(words):
        matches = vocabulary.matches(words, i)
        length = matches["NEARLY"][0] if "NEARLY" in matches and _RELATING.isdisjoint(matches) else 0
        if length and not _RELATING.isdisjoint(vocabulary.matches(words, i + length)):
            i += length
        kept.append(words[i])
        i += 1
    return kept


def _read(words: Sequence[str]) -> list[dict[str, Any]]:
    """Return the remarks of the best reading of a part, empty if it has none."""
    lattice = lattice_of(words)
    for i, option in enumerate(lattice.options):
        _narrow(words, i, option)
    readings: tuple[Reading, ...] = load_chart("reference").readings(lattice, most=1)
    return readings[0].meaning.get("all", []) if readings else []


def _narrow(words: Sequence[str], i: int, option: dict[str, Lexeme]) -> None:
    """Remove implausible grammar terminals at word i, and add one that lets the parser skip the word."""
    begins = not i or words[i - 1] in (COMMA, STOP, "and", "but", "when", "if", "while")
    side = option["SIDE"].length if "SIDE" in option else 0
    if begins and not option.keys().isdisjoint(("FACE", "STAND_AT", "ENTERING")):
        for table in ("REL", "PART", "NP"):
            option.pop(table, None)  # e.g. "the lamp on the left, facing the bed"
    if not begins and words[i] in ("that", "which", "who"):
        option.pop("PICK", None)  # "that" is no choice in "the chair that is green"
    for table in ("REL", "BETWEEN"):
        if table in option and option[table].length < side:
            option.pop(table)  # "by itself", "in the middle of the room" are sides
        elif table in option and option[table].length > side:
            option.pop("SIDE", None)  # "in front of" is a relation
    following = load_vocabulary().matches(words, i + 1)
    longer = max((following[table][0] for table in ("REL", "SIDE") if table in following), default=0)
    if "REL" in option and longer >= option["REL"].length > 1:
        option.pop("REL")  # "hanging on the right side of": the longer relation follows
    bare = option.get("SIDE_NOUN")
    if bare is not None and not side and "".join(words[i + bare.length : i + bare.length + 1]) != "of":
        single = load_vocabulary().match("SINGLE", bare.value.words, 0)
        if single is not None:
            option["SIDE"] = Lexeme(bare.length, single[1])  # e.g. "left" of "facing the windows, left"
    noun = option.get("NP")
    acts = noun is not None and noun.length == 1 and words[i].endswith("ing") and "ANYTHING" not in option
    if acts and load_vocabulary().matches(words, i):
        option.pop("NP")  # "standing" is no noun here
    if words[i] == "left":
        option.pop("PART", None)
    option["SKIP"] = Lexeme(1, words[i])


def _take_in(remarks: _Remarks, remark: dict[str, Any]) -> None:
    if "things" in remark:
        things = things_of(remark["things"])
        remarks.denied.extend(things.excluded)
        remarks.named.append(_Named(things, int(remark.get("sure", 0)), bool(remark.get("there"))))
    elif "said" in remark or "near" in remark:
        relation = relation_of(remark.get("said") or remark["near"])
        remarks.said.append((len(remarks.named), generic().with_relations([relation])))
    elif "more" in remark:
        noun = noun_words((GENERIC,))
        remarks.said.append((len(remarks.named), phrase_of({"value": noun, "more": [remark["more"]]})))
    elif "group" in remark:
        remarks.group = remarks.group or things_of(remark["group"]).phrases[0]
    elif "denied" in remark:
        remarks.denied.extend(things_of(remark["denied"]).phrases)
    elif "view" in remark:
        view = remark["view"]
        if "towards" in view:
            remarks.towards = _viewed(phrase_of(view["towards"]))
        elif "at" in view:
            place = phrase_of(view["at"])
            if place.of is not None and place.head in _FACING_PARTS:  # "at the foot of the bed" faces the bed
                remarks.towards = remarks.towards or _viewed(place)
            else:
                remarks.at = _viewed(place)
        else:
            remarks.at = remarks.at or phrase_of(noun_words(("door",), "the"))


def _viewed(phrase: Phrase) -> Phrase:
    """Return the object that the viewer faces or stands at; for a room, the middle of the room."""
    if phrase.is_whole or phrase.is_place or phrase.head in ("middle", "center"):
        return CENTER
    return phrase.of if phrase.of is not None and phrase.is_spot else phrase


def _target(remarks: _Remarks) -> tuple[Phrase | None, tuple[Phrase, ...]]:
    """Return the target with the descriptions of all remarks, and alternative targets."""
    named = [_of_this(one) for one in remarks.named]
    chosen = _chosen(named)
    target = None if chosen is None else chosen.things.phrases[0]
    if target is None:
        target = remarks.group
    if target is None and remarks.towards is not None and (remarks.said or named):
        target = phrase_of(NounWords(remarks.towards.noun.words, remarks.towards.noun.head, ()))
    if target is None:
        loose = [phrase for one in named for phrase in one.things.phrases if _is_generic(phrase)]
        anchored = [
            p
            for p in (*loose, *(said for _, said in remarks.said))
            if p.relations or p.states or p.noun.adjectives
        ]
        target = remarks.towards if remarks.towards is not None and not anchored else generic()
        if not anchored and not loose and remarks.towards is None:
            return None, ()
    assert target is not None
    for one in named:
        if one is not chosen:
            for phrase in one.things.phrases:
                target = joined(target, phrase) if _is_same(target, phrase) else target
    for _, phrase in remarks.said:
        target = joined(target, phrase)
    for phrase in remarks.denied:
        target = _without(target, phrase)
    if target.adjectives_only:  # "the white one": its kind is unknown
        noun = target.noun
        words = (*(w for w in noun.words if w not in ("one", "ones")), GENERIC)
        target = replace(target, noun=noun_words(words, noun.determiner, noun.count))
    target = _settled(target, target)
    others = () if chosen is None else chosen.things.phrases[1:]
    return target, tuple(
        _settled(p, p) for p in others
    ) if chosen is not None and chosen.things.any_of else ()


def _of_this(named: _Named) -> _Named:
    """Return the named object; "there is a tv on top of this dresser" becomes a dresser with a tv on it."""
    phrase = named.things.phrases[0]
    for relation in phrase.relations if named.is_there else ():
        if len(relation.anchors) == 1 and relation.anchors[0].noun.determiner == "this":
            kept = tuple(r for r in phrase.relations if r is not relation)
            held = Relation(relation.name, (replace(phrase, relations=kept),), relation.negated, inverse=True)
            anchor = relation.anchors[0]
            return _Named(Things((replace(anchor, relations=(*anchor.relations, held)),)), sure=1)
    return named


def _chosen(named: Sequence[_Named]) -> _Named | None:
    """Return the remark that names the target: the surest first."""
    real = [one for one in named if _is_thing(one.things.phrases[0])]
    for fits in (
        lambda one: one.sure > 1,
        lambda one: one.sure > 0,
        lambda one: not one.is_there,
        lambda one: True,
    ):
        found = next((one for one in real if fits(one)), None)
        if found is not None:
            return found
    return None


def _is_generic(phrase: Phrase) -> bool:
    return bool(phrase.pronoun) or phrase.adjectives_only or phrase.noun.is_anything


def _is_thing(phrase: Phrase) -> bool:
    """Return whether a phrase names a possible target rather than a place or a part of the room."""
    if _is_generic(phrase) or phrase.is_whole or phrase.head in load_lexicon().structure:
        return False
    return not load_vocabulary().is_in("NO_TARGET", *phrase.head.split())


def _is_same(target: Phrase, other: Phrase) -> bool:
    """Return whether another phrase may mean the same object."""
    if _is_generic(other) or _is_generic(target):
        return True
    lexicon = load_lexicon()
    one, two = lexicon.canonical(target.head), lexicon.canonical(other.head)
    if one is None or two is None:
        return target.head == other.head
    return one == two or one in lexicon.wider(two) or two in lexicon.wider(one)


def joined(target: Phrase, more: Phrase) -> Phrase:
    """Return the target with the attributes, relations and rooms of another phrase added, without duplicates."""
    words = more.noun.words if more.adjectives_only else more.noun.adjectives
    added = tuple(w for w in words if w not in target.noun.words and w not in ("one", "ones"))
    noun = target.noun
    if added:
        noun = noun_words((*added, *noun.words), noun.determiner, noun.count)
    relations = tuple(r for r in more.relations if r not in target.relations)
    states = tuple(s for s in more.states if s not in target.states)
    rooms = tuple(r for r in more.rooms if r not in target.rooms)
    return replace(
        target,
        noun=noun,
        relations=(*target.relations, *relations),
        states=(*target.states, *states),
        rooms=(*target.rooms, *rooms),
    )


def _without(target: Phrase, other: Phrase) -> Phrase:
    """Return the target with another phrase's only attribute or relation negated: "not the white one"."""
    words = other.noun.words if other.adjectives_only else other.noun.adjectives
    adjectives = tuple(w for w in words if w not in ("one", "ones"))
    if not _is_same(target, other) or len(adjectives) + len(other.relations) != 1:
        return target
    relations = tuple(replace(r, negated=not r.negated) for r in other.relations)
    states = tuple((word, True) for word in adjectives)
    return replace(target, relations=(*target.relations, *relations), states=(*target.states, *states))


def _settled(phrase: Phrase, target: Phrase) -> Phrase:
    """Return the phrase with pronouns and parts of the room resolved.

    "The other two" take the target's kind; relations to pronouns are dropped. A relation to a described part
    of the room ("the corner behind the desk") becomes one to the object there.
    """
    relations: list[Relation] = []
    for relation in phrase.relations:
        if any(anchor.pronoun and anchor.pronoun != "one" for anchor in relation.anchors):
            if relation.name in SIDES:
                relations.append(replace(relation, anchors=()))
            continue
        anchors = []
        for said in relation.anchors:
            relation = _sided(relation, said)
            anchor = _settled(_of_kind(said, target), target)
            whole = replace(anchor, relations=()).is_whole or anchor.head in ("row", "group", "set")
            if relation.name in SIDES and whole:
                continue  # "on the left of the room" is kept as a side
            if _is_part(anchor):
                relations.extend(anchor.relations)
                of = anchor.of
                of_room = of is None or of.is_place or of.is_whole
                anchor = _bare(anchor) if of is None or of_room else _settled(of, target)
            anchors.append(anchor)
        relations.append(replace(relation, anchors=tuple(anchors)))
    relations += [Relation("Inside", (room,)) for room in phrase.rooms if not room.is_room]
    return replace(phrase, relations=tuple(relations), rooms=tuple(r for r in phrase.rooms if r.is_room))


def _sided(relation: Relation, anchor: Phrase) -> Relation:
    """Return the relation; "on the right side of the mirror" becomes "to the right of the mirror"."""
    single = load_vocabulary().match("SINGLE", anchor.head.split(), 0)
    if anchor.of is None or single is None or single[1] not in ("LeftOf", "RightOf"):
        return relation
    return (
        replace(relation, name=str(single[1]))
        if relation.name in ("On", "Inside", "Near", "NextTo")
        else relation
    )


def _of_kind(anchor: Phrase, target: Phrase) -> Phrase:
    if not anchor.pronoun and anchor.head not in ("other", "others", "rest"):
        return anchor
    noun = noun_words(
        target.noun.words[len(target.noun.adjectives) :], anchor.noun.determiner, anchor.noun.count
    )
    return replace(anchor, noun=noun, pronoun="")


def _bare(part: Phrase) -> Phrase:
    """Return a part of the room without its description: no data tells which corner is "the far corner"."""
    known = part.head in load_lexicon().structure
    noun = NounWords((part.head,), part.head, (), part.noun.determiner) if known else part.noun
    return replace(part, noun=noun, relations=(), of=None)


def _is_part(phrase: Phrase) -> bool:
    """Return whether a phrase is a part of the room, such as "a corner", or of an object."""
    whole = load_vocabulary().is_in("NO_TARGET", *phrase.head.split())
    return whole or phrase.head in load_lexicon().structure or (phrase.of is not None and phrase.is_spot)
