"""The table of how long things stay where they are: whole, ordered, and never surprised by a label."""

from __future__ import annotations

import pytest

from lodestar.memory.motion_habits import chance_to_stay, habit_of, habit_table, half_life
from lodestar.models.lexicon import load_lexicon

HOUR, DAY = 3600.0, 86400.0


def test_every_noun_of_the_lexicon_has_a_class():
    assert [noun for noun in load_lexicon().nouns if habit_of(noun)[0] == "unknown"] == []


def test_the_table_names_only_nouns_of_the_lexicon():
    assert set(habit_table()) - set(load_lexicon().nouns) == {"unknown"}


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("couch", "furniture"), ("office chair", "seat"), ("red mug", "carried"), ("man", "living"),
        ("puppy", "living"), ("backpack", "carried"), ("my keys", "carried"), ("pallet rack", "furniture"),
        ("wall clock", "fixture"), ("forklift", "worked with"), ("gizmo", "unknown"), ("", "unknown"),
        ("\x1b[31m", "unknown"), ("x" * 5000, "unknown"), ("椅子", "unknown"),
    ],
)  # fmt: skip
def test_a_label_has_the_class_of_its_kind_or_of_its_nearest_wider_noun(label, kind):
    assert habit_of(label)[0] == kind


def test_what_is_carried_leaves_before_a_chair_and_a_chair_before_a_wardrobe():
    lives = [half_life(label) for label in ("person", "mug", "chair", "wardrobe", "door")]
    assert lives == sorted(lives)
    assert lives[0] < HOUR < lives[1] < DAY < lives[2] < 30 * DAY < lives[3]


def test_the_chance_halves_with_each_half_life_and_a_clock_that_went_back_takes_nothing():
    assert chance_to_stay("mug", 0.0) == 1.0
    assert chance_to_stay("mug", half_life("mug")) == pytest.approx(0.5)
    assert chance_to_stay("mug", 3 * half_life("mug")) == pytest.approx(0.125)
    assert chance_to_stay("mug", -100.0) == 1.0
    assert chance_to_stay("mug", 10 * DAY) < 1e-10 < 0.9 < chance_to_stay("wardrobe", 10 * DAY)
