"""Tests of saves that would lose too much of the previous save."""

from __future__ import annotations

import pytest

from lodestar.storage.saved_map import SaveConfig, shrinkage


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, {"entities": 1, "free_m2": 1.0}),
        ({"entities": 79, "free_m2": 116.0}, {"entities": 40, "free_m2": 60.0}),
        ({"entities": 5, "free_m2": 12.0}, {"entities": 1, "free_m2": 3.0}),
        ({"entities": 79}, {"entities": 90, "free_m2": 1.0}),
        ({"entities": 79, "free_m2": 9.0}, {"entities": 79}),
    ],
)
def test_a_map_may_replace_one_of_its_size(before, now):
    assert shrinkage(before, now) == ""


def test_a_map_of_less_than_half_says_what_is_missing(monkeypatch):
    before = {"entities": 79, "free_m2": 116.0}
    assert shrinkage(before, {"entities": 5, "free_m2": 110.0}) == "5 instead of 79 entities"
    both = shrinkage(before, {"entities": 5, "free_m2": 44.0})
    assert both == "5 instead of 79 entities and 44 instead of 116 m2 of known floor"
    monkeypatch.setattr("lodestar.storage.saved_map.SAVE_LEAST_SHARE", 0.0)
    assert shrinkage(before, {"entities": 5, "free_m2": 44.0}) == ""


def test_a_map_whose_grid_is_gone_with_its_node_is_smaller():
    before = {"entities": 79, "free_m2": 116.0}
    assert shrinkage(before, {"entities": 79}) == "0 instead of 116 m2 of known floor"


def test_a_map_without_saves_is_refused():
    with pytest.raises(ValueError, match="keep"):
        SaveConfig(keep=0)
