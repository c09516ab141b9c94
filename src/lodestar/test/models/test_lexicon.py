"""Tests of the lexicon shared by parser, scene and queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.models.lexicon import load_lexicon, words_of

LEXICON = load_lexicon()


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("chairs", "chair"), ("boxes", "box"), ("shelves", "shelf"), ("batteries", "battery"), ("people", "person"),
        ("glasses", "glasses"), ("bus", "bus"), ("couches", "couch"), ("Fire Extinguishers", "fire extinguisher"),
        ("mattress", "mattress"), ("keys", "keys"), ("office chairs", "office chair"), ("gas", "gas"),
    ],
)  # fmt: skip
def test_singular(plural, singular):
    assert LEXICON.singular_phrase(plural) == singular


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("couch", "sofa"), ("Fridge", "refrigerator"), ("TVs", "television"), ("desk chair", "office chair"),
        ("cardboard boxes", "box"), ("asdf", None), ("", None),
    ],
)  # fmt: skip
def test_synonyms_have_one_name(phrase, name):
    assert LEXICON.canonical(phrase) == name


def test_every_parent_and_neighbor_and_room_is_a_noun_of_the_lexicon():
    for noun in LEXICON.nouns.values():
        for other in (*(noun.is_a or ()), *noun.near):
            assert other in LEXICON.nouns, f"{noun.name}: {other}"
    assert set(LEXICON.room_evidence) <= set(LEXICON.nouns)
    rooms = {room for weights in LEXICON.room_evidence.values() for room in weights}
    assert all(LEXICON.room(room) == room for room in rooms)


def test_nothing_is_a_kind_of_itself():
    assert not [name for name in LEXICON.nouns if name in LEXICON.wider(name)]


def test_wider_is_transitive():
    assert {"chair", "seat"} <= LEXICON.wider("office chair")
    assert "chair" not in LEXICON.wider("wheelchair")


@pytest.mark.parametrize(
    ("caption", "attributes"),
    [
        ("a red office chair made of wood", ("red", "wooden")),
        ("glass of wine", ()),
        ("glass coffee table", ("glass",)),
        ("an orange", ()),
        ("orange chair", ("orange",)),
        ("GREY plastic box", ("gray", "plastic")),
        ("brown cardboard box", ("brown", "cardboard")),
        ("wooden crates", ("wooden",)),
        ("paper shredder", ()),
        ("plastic bin", ()),
        ("wet floor", ()),
        ("red-colored crate", ("red",)),
        ("", ()),
    ],
)
def test_attributes_of_captions(caption, attributes):
    assert LEXICON.attributes_in(caption) == attributes


@given(st.text(max_size=60))
def test_words_hold_no_space_or_upper_case(text):
    for word in words_of(text):
        assert word
        assert word.split() == [word]
        assert word == word.casefold()
