"""Tests of names that may refer to the same object."""

from __future__ import annotations

import pytest

from lodestar.models.kinship import kind_of, looks_agree, looks_of, same_kind


@pytest.mark.parametrize(
    "a, b",
    [
        ("sofa", "couch"),
        ("Sofas", "leather couch"),
        ("chair", "office chair"),
        ("desk", "table"),
        ("zorb", "zorbs"),
    ],
)
def test_synonyms_and_kinds_of_a_thing_are_the_same(a, b):
    assert same_kind(a, b) and same_kind(b, a)


@pytest.mark.parametrize(
    "a, b",
    [
        ("chair", "table"), ("dining table", "coffee table"), ("armchair", "sofa"), ("stool", "chair"),
        ("object", "chair"), ("thing", "sofa"), ("zorb", "blip"), ("", "chair"),
    ],
)  # fmt: skip
def test_other_things_and_siblings_and_words_for_anything_are_not(a, b):
    assert not same_kind(a, b) and not same_kind(b, a)


def test_a_kind_is_the_noun_at_the_end_of_a_label():
    assert kind_of("red leather couch") == kind_of("sofa") == "sofa"
    assert kind_of("zorbs") == "zorb"


def test_looks_are_what_a_caption_says_beside_the_noun():
    assert (
        looks_of("a grey couch", "sofa")
        == looks_of("gray sofa", "sofa")
        == looks_of("the gray sofa", "couch")
    )
    assert looks_of("a couch", "sofa") == frozenset()
    assert looks_agree(("sofa", "a grey sofa"), ("couch", "grey couch"))
    assert looks_agree(("sofa", "a grey sofa"), ("couch", "couch"))
    assert not looks_agree(("sofa", "a grey sofa"), ("couch", "a blue couch"))
    assert not looks_agree(("box", "box labeled a7"), ("box", "box labeled b3"))


@pytest.mark.parametrize("text", ["", " ", "\u202e\x00", "椅子", "a" * 5000, "?!"])
def test_rubbish_is_a_kind_of_its_own(text):
    assert same_kind(text, text) and not same_kind(text, "chair")
    looks_of(text, text)
