"""Tests that a prohibition anywhere in a text is in its directive, or the text is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lodestar.language.directive import Directive, DirectiveError
from lodestar.language.directive_reader import read_directive
from lodestar.language.grammar import parse_directive
from lodestar.language.prohibitions import prohibitions, unaccounted
from lodestar.language.sentence_tokens import tokens_of

THINGS = ("vase", "heater", "aquarium", "ladder", "toolbox", "sofa")
ROOMS = ("kitchen", "garage", "pantry", "laundry room", "bedroom", "office")
ORDERS = (
    "find the {thing}", "go to the {room}", "look for the {thing} in the {room}", "explore the {room}",
    "count the {thing}s", "bring me the {thing}", "find the {thing} and come back", "check whether the {thing} is open",
    "take the {thing} to the {room}", "tell me what is on the {thing}", "patrol the {room}", "fetch the {thing}",
)  # fmt: skip
#: Phrasings of prohibitions of a room, an object or either; none is known to the word check as a whole.
OF_ROOMS = (
    "do not enter the {}", "without entering the {}", "never go into the {}", "stay out of the {}",
    "no entering the {}",
    "without ever entering the {}", "never once going into the {}",
    "you must not go through the {}", "while not passing through the {}", "without going through the {}",
)  # fmt: skip
OF_BOTH = (
    "avoid the {}", "avoiding the {}", "keep away from the {}", "keep clear of the {}", "by avoiding the {}",
    "the {} is off limits", "the {} is forbidden", "stay far from the {}", "except the {}", "but not the {}",
    "with the exception of the {}", "no {}", "not the {}", "never near the {}", "hands off the {}", "bypass the {}",
    "on no account visit the {}", "the {} must not be touched", "nobody goes near the {}", "apart from the {}",
    "shun the {}", "skipping the {}", "{} excluded", "beware of the {}", "while staying off the {}",
    "I do not want you near the {}", "give the {} a wide berth", "leave the {} alone", "refrain from going near the {}",
    "the {} is out of bounds", "neither the {} nor anything near it", "excluding the {}",
    "without so much as touching the {}", "without you going near the {}", "with no detour past the {}",
)  # fmt: skip
LINKS = (", ", " ", "; ", ". ", " and ", " but ", ", and ", ", but ", ", please ")


def kept(directive: Directive, noun: str) -> bool:
    """Return whether a directive forbids, excludes or denies an object or a room."""
    word = noun.split()[-1] if noun != "laundry room" else "laundry"
    graphs = [graph for one in directive.constraints for graph in one.item.best]
    for step in directive.steps:
        if step.item is not None:
            graphs += step.item.excluded
            for graph in step.item.graphs:
                for predicate in (*graph.predicates, *step.asked):
                    said = [predicate.value, *(graph.variables[a].phrase for a in predicate.arguments[1:])]
                    if predicate.negated and any(word in text for text in said):
                        return True
    return any(word in variable.phrase for graph in graphs for variable in graph.variables)


@st.composite
def sentences(draw):
    """Draw a text with a prohibition at its front, middle or end, and the noun that it is about."""
    is_room = draw(st.booleans())
    nouns = ROOMS if is_room else THINGS
    noun = draw(st.sampled_from(nouns))
    other = draw(st.sampled_from([one for one in THINGS if one != noun]))
    room = draw(st.sampled_from([one for one in ROOMS if one != noun]))
    ban = draw(st.sampled_from((*OF_ROOMS, *OF_BOTH) if is_room else OF_BOTH)).format(noun)
    order = draw(st.sampled_from(ORDERS)).format(thing=other, room=room)
    link, second = draw(st.sampled_from(LINKS)), draw(st.sampled_from(LINKS))
    third = [one for one in THINGS if one not in (noun, other)][draw(st.integers(0, 3))]
    place = draw(st.sampled_from(("front", "middle", "end")))
    if place == "front":
        return f"{ban}{link}{order}", noun
    if place == "end":
        return f"{order}{link}{ban}", noun
    return f"{order}{link}{ban}{second}find the {third}", noun


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sentences())
def test_what_is_forbidden_is_kept_or_the_text_is_refused(said):
    text, noun = said
    try:
        reading = read_directive(text)[0]
    except DirectiveError:
        return
    asked_back = reading.is_doubtful
    assert asked_back or kept(reading.directive, noun), f"{text!r} forbids nothing of {noun!r}: {reading}"


@pytest.mark.parametrize(
    "text",
    ["do not forget to find the mug", "no, go back to the kitchen", "find the mug without delay",
     "I can not find my keys", "we never saw the dog, find it", "find the mug no matter what",
     "would it not be nice if you do not mind waiting"],
)  # fmt: skip
def test_an_idiom_forbids_nothing(text):
    words = tokens_of(text)
    assert [
        one.said for one in prohibitions(words) if one.said.split()[0] in ("no", "without", "never")
    ] == []


def test_every_prohibition_is_found_in_order():
    words = tokens_of(
        "without crossing the rug find a mug with no handle, the lab is off limits, avoid the dog"
    )
    assert [words[one.start] for one in prohibitions(words)] == ["without", "no", "off", "avoid"]


def test_a_directive_without_the_ban_leaves_it_unaccounted():
    text = "find the mug; avoid the dog"
    whole = parse_directive(text)
    without = Directive(text, whole.steps)
    assert unaccounted(tokens_of(text), whole) == ()
    assert [one.said for one in unaccounted(tokens_of(text), without)] == ["avoid the dog"]


def test_the_second_of_two_forbidden_things_is_not_lost():
    whole = parse_directive("find the mug; avoid the sofa or the bed")
    assert len(whole.constraints) == 2
    half = Directive(whole.text, whole.steps, whole.constraints[:1])
    assert unaccounted(tokens_of(whole.text), half)


@pytest.mark.parametrize(
    "text",
    ["find the mug, the kitchen and the garage {} off limits",
     "go to the hall and the kitchen and the garage {} forbidden",
     "the kitchen and the garage {} out of bounds, find the mug"],
)  # fmt: skip
def test_the_first_of_two_things_that_are_barred_is_not_lost(text):
    whole = parse_directive(text.format("are"))
    assert len(whole.constraints) == 2
    half = Directive(whole.text, whole.steps, whole.constraints[1:])
    assert unaccounted(tokens_of(whole.text), half)


def test_what_is_found_is_not_barred_with_what_follows():
    whole = parse_directive("find the mug and the cup, the dog must not be disturbed")
    assert [step.target for step in whole.steps] == ["mug", "cup"] and len(whole.constraints) == 1
