"""Remarks in clauses of their own that describe the requested object: "find the towel, it is the one by the
mirror".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lodestar.language.clauses import Clause
from lodestar.language.directive import Step
from lodestar.language.directive_draft import Draft
from lodestar.language.noun_words import noun_words
from lodestar.language.phrase_graphs import graphs_of
from lodestar.language.phrase_items import item_of, scope_of
from lodestar.language.phrase_meanings import relation_of, things_of, with_state
from lodestar.language.phrases import Phrase, Relation, Things
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

PRONOUNS = frozenset({"it", "they", "he", "she", "this", "that", "these", "those"})
#: Words of a guess: a room that is only guessed must not exclude the other rooms.
GUESSED = frozenset(
    {"should", "ought", "may", "might", "could", "must", "supposed", "maybe", "perhaps", "probably", "usually",
     "normally", "likely", "possibly", "think", "i", "was", "were"}
)  # fmt: skip


def is_remark(clause: Clause, meaning: dict[str, Any]) -> bool:
    """Return whether a clause only describes the object named before: "the one by the mirror", "it is the
    blue one".
    """
    if clause.words[0] in PRONOUNS and load_vocabulary().match("IS", clause.words, 1) is not None:
        return True
    things = things_of(meaning["thing"])
    first = things.phrases[0]
    one = first.pronoun == "one" or (first.adjectives_only and not {"one", "ones"}.isdisjoint(clause.words))
    return len(things.phrases) == 1 and one and clause.words[0] == "the"


def take_remark(draft: Draft, meaning: dict[str, Any], clause: Clause) -> bool:
    """Add a remark's description to the step that looks for its object; False if there is no such step or
    nothing to add.
    """
    named = draft.named
    where = _step_of(draft, named) if named is not None else None
    if named is None or where is None:
        return False
    described = _described(draft, named, meaning)
    if described is None or described == named:
        return False
    if not GUESSED.isdisjoint((*clause.words, clause.spoken)):
        described = replace(described, rooms=named.rooms, level=named.level)
    group, index = where
    old = group.steps[index]
    assert old.item is not None
    item = replace(item_of(Things((described,))), excluded=old.item.excluded, count=old.item.count)
    group.steps[index] = replace(old, item=item, scope=scope_of(described) or old.scope)
    draft.named = described
    return True


def _step_of(draft: Draft, named: Phrase) -> tuple[Any, int] | None:
    """Return the group and index of the newest step that looks for the object, or None."""
    graphs = (graphs_of(named),)
    for group in reversed(draft.groups):
        for index in range(len(group.steps) - 1, -1, -1):
            step: Step = group.steps[index]
            if step.item is not None and step.item.alternatives == graphs:
                return group, index
    return None


def _described(draft: Draft, named: Phrase, meaning: dict[str, Any]) -> Phrase | None:
    """Return the object with the remark's description; None if the remark is about something else."""
    if meaning["kind"] == "thing":
        return _same_thing(draft, named, things_of(meaning["thing"]).phrases)
    asked = meaning.get("asked") or {}
    relations = [asked["said"]] if asked.get("said") else []
    relations += (meaning.get("where") or {}).get("all", [])
    state, found = asked.get("state"), named
    if state is not None and not _words_of(state):
        state = None  # "it is the one next to the toaster" states no attribute
    if state is not None and not _is_look(state):
        return None
    for one in relations:
        relation = replace(relation_of(one), negated=bool(one.get("negated") or asked.get("negated")))
        relation = replace(relation, anchors=tuple(draft.resolved(anchor) for anchor in relation.anchors))
        if relation.anchors and not any(anchor.pronoun for anchor in relation.anchors):
            found = found.with_relations([relation])
    if state is not None:
        found = with_state(found, state, bool(asked.get("negated")))
    return found


def _same_thing(draft: Draft, named: Phrase, said: tuple[Phrase, ...]) -> Phrase | None:
    """Return the named object with the description of "the blue one on the shelf"; None if it contradicts the
    name.
    """
    if len(said) != 1:
        return None
    other = draft.resolved(said[0])
    lexicon = load_lexicon()
    bare = said[0].adjectives_only or said[0].pronoun
    if not bare and (lexicon.canonical(other.head) or other.head) != (
        lexicon.canonical(named.head) or named.head
    ):
        return None
    groups = {lexicon.attribute_group.get(lexicon.attribute(a) or "") for a in named.noun.adjectives}
    own = [a for a in said[0].noun.adjectives if a not in named.noun.adjectives and a not in ("one", "ones")]
    if any(lexicon.attribute_group.get(lexicon.attribute(a) or "") in groups - {None} for a in own):
        return None  # "the red chair, the blue one": another object
    words = (*own, *named.noun.words)
    noun = noun_words(words, named.noun.determiner, named.noun.count) if own else named.noun
    relations: list[Relation] = [r for r in said[0].relations if r not in named.relations]
    found = replace(named, noun=noun, states=(*named.states, *said[0].states))
    found = replace(found, rooms=(*named.rooms, *said[0].rooms), level=said[0].level or named.level)
    return replace(found, relations=(*named.relations, *relations))


def _words_of(state: dict[str, Any]) -> list[str]:
    if state.get("words") is not None:
        return [word for word in getattr(state["words"], "words", ()) if word not in ("one", "ones")]
    return str(state.get("state", "")).split()


def _is_look(state: dict[str, Any]) -> bool:
    """Return whether a state is visible, as a colour or "open" is, but not "urgent" or "mine"."""
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    return all(
        lexicon.attribute(word) is not None or vocabulary.is_in("STATE", word) for word in _words_of(state)
    )
