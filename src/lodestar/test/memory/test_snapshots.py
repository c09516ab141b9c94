"""Tests of clusters of entities that one image shows together, against brute force on small cases."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.memory.snapshots.clusters import cover_clusters

SCORES = st.floats(0.01, 1.0)
SIGHTS = st.dictionaries(
    st.integers(1, 8), st.dictionaries(st.integers(1, 9), SCORES, min_size=1, max_size=6), max_size=8
)


def seen(sights):
    return {entity for scores in sights.values() for entity in scores}


def fewest(sights):
    """Return the least number of images that show everything, by trying all sets."""
    for count in range(len(sights) + 1):
        for images in combinations(sights, count):
            if set().union(*(sights[image] for image in images)) == seen(sights):
                return count
    raise AssertionError("all images together show everything")


def is_partition(clusters, sights, entities):
    assert sorted(e for members in clusters.values() for e in members) == sorted(entities)
    for image, members in clusters.items():
        assert members and members <= sights[image].keys()


@settings(max_examples=150, deadline=None)
@given(SIGHTS, st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_every_entity_has_one_image_that_shows_it_and_few_images_are_needed(sights, weight):
    clusters = cover_clusters(range(12), sights, weight)
    is_partition(clusters, sights, seen(sights))
    if weight == 0.0:
        least = fewest(sights)
        largest = max((len(scores) for scores in sights.values()), default=1)
        # bound by Chvatal 1979
        assert len(clusters) <= least * sum(1.0 / k for k in range(1, largest + 1)) + 1e-9
    for image in clusters:
        others = set().union(*(sights[i].keys() for i in clusters if i != image))
        assert not sights[image].keys() <= others, "none can be left out"


def test_each_entity_goes_to_the_chosen_image_that_shows_it_best():
    sights = {1: {1: 0.9, 2: 0.2, 3: 0.9}, 2: {2: 0.8, 4: 0.9}}
    assert cover_clusters((1, 2, 3, 4), sights, 0.9) == {1: {1, 3}, 2: {2, 4}}


def test_a_held_image_stays_where_another_is_little_better():
    sights = {1: {1: 0.50, 2: 0.50}, 2: {1: 0.52, 2: 0.52}}
    assert set(cover_clusters((1, 2), sights, 0.9)) == {2}
    assert set(cover_clusters((1, 2), sights, 0.9, held={1}, keep_bonus=1.15)) == {1}
    better = {**sights, 2: {1: 0.9, 2: 0.9}}
    assert set(cover_clusters((1, 2), better, 0.9, held={1}, keep_bonus=1.15)) == {2}


@pytest.mark.parametrize("sights", [{}, {1: {}}, {1: {9: 1.0}}])
def test_nothing_that_is_asked_for_is_shown(sights):
    assert cover_clusters((1, 2), sights, 0.9) == {}
    assert cover_clusters((), sights, 0.9) == {}
