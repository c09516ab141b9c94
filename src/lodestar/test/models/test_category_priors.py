"""Tests of category priors: a complete table, unknown labels, learned counts, and their file."""

from __future__ import annotations

import json
import math

import pytest

from lodestar.models.category_priors import BadPriors, CategoryPriors, Watching, prior_table
from lodestar.models.lexicon import load_lexicon

HOUR, DAY = 3600.0, 86400.0
TABLE = CategoryPriors()


def half_life(label: str) -> float:
    return TABLE.of(label).half_life


def test_every_noun_of_the_lexicon_has_a_class_and_a_size():
    priors = [TABLE.of(noun) for noun in load_lexicon().nouns]
    assert [p.kind for p in priors if p.habit == "unknown" or not p.size > 0.0] == []


def test_the_table_names_only_nouns_of_the_lexicon():
    assert set(prior_table()) - set(load_lexicon().nouns) == {"unknown"}


@pytest.mark.parametrize(
    ("label", "habit"),
    [
        ("couch", "furniture"), ("office chair", "seat"), ("red mug", "carried"), ("man", "living"),
        ("puppy", "living"), ("backpack", "carried"), ("my keys", "carried"), ("pallet rack", "furniture"),
        ("wall clock", "fixture"), ("forklift", "worked with"), ("gizmo", "unknown"), ("", "unknown"),
        ("\x1b[31m", "unknown"), ("x" * 5000, "unknown"), ("椅子", "unknown"),
    ],
)  # fmt: skip
def test_a_label_has_the_class_of_its_kind_or_of_its_nearest_wider_noun(label, habit):
    assert TABLE.of(label).habit == habit


def test_what_is_carried_leaves_before_a_chair_and_a_chair_before_a_wardrobe():
    lives = [half_life(label) for label in ("person", "mug", "chair", "wardrobe", "door")]
    assert lives == sorted(lives)
    assert lives[0] < HOUR < lives[1] < DAY < lives[2] < 30 * DAY < lives[3]


def test_the_chance_halves_with_each_half_life_and_a_clock_that_went_back_takes_nothing():
    mug = TABLE.of("mug")
    assert mug.chance_to_stay(0.0) == 1.0
    assert mug.chance_to_stay(mug.half_life) == pytest.approx(0.5)
    assert mug.chance_to_stay(3 * mug.half_life) == pytest.approx(0.125)
    assert mug.chance_to_stay(-100.0) == 1.0
    assert mug.chance_to_stay(10 * DAY) < 1e-10 < 0.9 < TABLE.of("wardrobe").chance_to_stay(10 * DAY)


def test_a_kind_knows_its_support_and_whether_it_moves_by_itself():
    assert [TABLE.of(label).support for label in ("sofa", "cup", "whiteboard", "ceiling lamp")] == [
        "floor", "surface", "wall", "ceiling",
    ]  # fmt: skip
    assert TABLE.of("person").moves_by_itself and not TABLE.of("forklift").moves_by_itself


@pytest.mark.parametrize("hours", [2.0, 4.0, 40.0])
def test_counts_of_things_that_move_at_another_rate_bring_the_half_life_there(hours):
    """Seen again after 6 h, with the share of moved objects that this half-life gives."""
    moved = 1.0 - 0.5 ** (6.0 / hours)
    priors = TABLE
    for _ in range(400):
        priors = priors.learned([Watching("mug", 6 * HOUR, moved)])
    assert priors.of("mug").half_life == pytest.approx(hours * HOUR, rel=0.15)
    assert priors.of("mug").watched == 400
    assert priors.of("bowl").half_life == half_life("bowl")  # other categories are unchanged


def test_few_counts_change_little_and_impossible_ones_nothing():
    once = TABLE.learned([Watching("wardrobe", DAY, 1.0)])
    assert half_life("wardrobe") / 2 < once.of("wardrobe").half_life < half_life("wardrobe")
    nan = math.nan
    bad = [
        Watching("mug", nan, 1.0), Watching("mug", -5.0, 1.0), Watching("mug", 5.0, nan), Watching("", 5.0, 1.0)
    ]  # fmt: skip
    assert TABLE.learned(bad) == TABLE


def test_sizes_that_were_seen_move_the_typical_size_and_a_first_one_gives_it():
    priors = TABLE.learned([Watching("mug", HOUR, 0.0, 0.2)] * 9 + [Watching("gizmo", HOUR, 0.0, 0.4)])
    assert TABLE.of("mug").size < priors.of("mug").size < 0.2
    assert priors.of("gizmo").size == pytest.approx(0.4)


def test_counts_come_back_from_their_file(tmp_path):
    priors = TABLE.learned([Watching("mug", HOUR, 0.25, 0.1), Watching("gizmo", DAY, 1.0)])
    priors.save(tmp_path / "counts.json")
    assert CategoryPriors.load(tmp_path / "counts.json") == priors


def test_a_whole_number_with_a_point_is_a_count(tmp_path):
    counts = '{"things": 2.0, "moves": 1, "exposure": 3, "sizes": 0, "sized": 0.0}'
    (tmp_path / "counts.json").write_text(
        f'{{"kind": "category-priors", "version": 1.0, "kinds": {{"mug": {counts}}}}}'
    )
    assert CategoryPriors.load(tmp_path / "counts.json").of("mug").watched == 2


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": "other", "version": 1, "kinds": {}}', '{"kind": "category-priors", "version": 2}',
     '{"kind": "category-priors", "version": 1, "kinds": {"mug": {"things": 1}}}',
     '{"kind": "category-priors", "version": 1, "kinds": {"mug": 3}}'],
)  # fmt: skip
def test_another_file_is_refused_with_what_to_do(tmp_path, text):
    (tmp_path / "counts.json").write_text(text)
    with pytest.raises(BadPriors, match="move it away"):
        CategoryPriors.load(tmp_path / "counts.json")


def test_impossible_counts_are_refused(tmp_path):
    path = tmp_path / "counts.json"
    TABLE.learned([Watching("mug", HOUR, 0.25)]).save(path)
    data = json.loads(path.read_text())
    data["kinds"]["mug"]["exposure"] = -1.0
    path.write_text(json.dumps(data))
    with pytest.raises(BadPriors, match=r"`float` >= 0.0.*kinds\[...\].exposure.*move it away"):
        CategoryPriors.load(path)
