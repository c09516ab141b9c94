"""Tests that spelling errors are corrected if exactly one known word is near."""

from __future__ import annotations

import pytest
from waiting import Moment

from lodestar.language.grammar import parse_directive
from lodestar.language.spelling import LONGEST, _targets, corrected
from lodestar.models.lexicon import load_lexicon


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("frige", "fridge"),
        ("kichen", "kitchen"),
        ("tabel", "table"),
        ("bedrom", "bedroom"),
        ("refridgerator", "refrigerator"),
    ],
)
def test_one_letter_is_put_right(said, meant):
    assert corrected([said]) == [meant]


@pytest.mark.parametrize(
    "word", ["alice", "hannah", "xyzzy", "asdf", "mug", "a4", "café", "найди", "sponges", "wiped"]
)
def test_names_known_words_and_other_scripts_stay(word):
    assert corrected([word]) == [word]


def test_no_word_of_the_lexicon_is_changed():
    words = sorted({word for name in load_lexicon().canonical_noun for word in name.split()})
    assert corrected(words) == words


def test_a_directive_with_errors_means_the_same():
    assert parse_directive("go to the kichen and find the refrigertor").steps == (
        parse_directive("go to the kitchen and find the refrigerator").steps
    )


def test_a_very_long_word_is_left_alone_at_once():
    began = Moment.now()
    assert corrected(["ab" * 1000]) == ["ab" * 1000]
    assert began.passed() < 1.0
    assert max(map(len, _targets())) + 2 <= LONGEST
