"""When a save would lose too much of what was saved before."""

from __future__ import annotations

import pytest

from lodestar.storage.saved_map import SaveConfig, shrinkage

CONFIG = SaveConfig()


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
    assert shrinkage(before, now, CONFIG) == ""


def test_a_map_of_less_than_half_says_what_is_missing():
    before = {"entities": 79, "free_m2": 116.0}
    assert shrinkage(before, {"entities": 5, "free_m2": 110.0}, CONFIG) == "5 instead of 79 entities"
    both = shrinkage(before, {"entities": 5, "free_m2": 44.0}, CONFIG)
    assert both == "5 instead of 79 entities and 44 instead of 116 m2 of known floor"
    assert shrinkage(before, {"entities": 5, "free_m2": 44.0}, SaveConfig(least_share=0.0)) == ""


def test_a_map_whose_grid_is_gone_with_its_node_is_smaller():
    before = {"entities": 79, "free_m2": 116.0}
    assert shrinkage(before, {"entities": 79}, CONFIG) == "0 instead of 116 m2 of known floor"


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"least_share": 1.1}, {"least_share": -0.1}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="keep"):
        SaveConfig(**wrong)
