"""Tests of SnapMem's Algorithm 1: every entity gets one image, which shows its whole cluster."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar_eval.covisibility import covisibility_clusters

SCORES = st.floats(0.01, 1.0)
SIGHTS = st.dictionaries(
    st.integers(1, 8), st.dictionaries(st.integers(1, 9), SCORES, min_size=1, max_size=6), max_size=8
)


def places(entities):
    return {entity: np.array([float(entity % 3), float(entity // 3)]) for entity in entities}


def seen(sights):
    return {entity for scores in sights.values() for entity in scores}


def is_partition(clusters, sights, entities):
    assert sorted(e for members in clusters.values() for e in members) == sorted(entities)
    for image, members in clusters.items():
        assert members and members <= sights[image].keys()


@settings(max_examples=150, deadline=None)
@given(SIGHTS)
def test_algorithm_1_gives_every_entity_one_image_that_shows_its_cluster(sights):
    clusters = covisibility_clusters(places(range(12)), sights)
    is_partition(clusters, sights, seen(sights))


def test_algorithm_1_splits_where_things_stand_apart_and_prefers_the_fuller_image():
    where = {
        1: np.array([0.0, 0.0]),
        2: np.array([0.5, 0.0]),
        3: np.array([6.0, 0.0]),
        4: np.array([6.5, 0.0]),
    }
    sights = {7: {1: 0.9, 2: 0.9}, 8: {1: 0.1, 2: 0.1, 3: 0.1}, 9: {3: 0.5, 4: 0.5}}
    assert covisibility_clusters(where, sights) == {8: {1, 2}, 9: {3, 4}}


def test_algorithm_1_ends_where_all_things_stand_in_one_place():
    where = {i: np.zeros(2) for i in (1, 2, 3)}
    assert covisibility_clusters(where, {1: {1: 1.0}, 2: {2: 1.0}, 3: {3: 1.0}}) == {1: {1}, 2: {2}, 3: {3}}


def test_nothing_that_is_asked_for_is_shown():
    assert (
        covisibility_clusters(places((1, 2)), {5: {3: 1.0}}) == covisibility_clusters({}, {5: {3: 1.0}}) == {}
    )
