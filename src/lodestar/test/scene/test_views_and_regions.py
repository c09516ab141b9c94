"""Tests of views, captions, adjacency, regions, similarity fields and a mirror's rejections."""

from __future__ import annotations

import numpy as np
import pytest
from scene_builders import Feed, instance, sighting

from lodestar.mapping.instances.records import CaptionVote
from lodestar.scene.adjacency import Covisibility, hellinger_distance
from lodestar.scene.captions import clean_text, elect, merge_votes
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.scene.regions import RegionMap
from lodestar.scene.similarity import similarity_count, tier_counts
from lodestar.scene.views import view_quality


def test_hellinger_distance_of_equal_shifted_and_far_gaussians():
    covariance = np.diag([0.04, 0.09, 0.01])
    means = np.array([[0, 0, 0], [0.2, 0, 0], [50, 0, 0]], float)
    distance = hellinger_distance(np.zeros(3), covariance, means, np.repeat(covariance[None], 3, axis=0))
    shifted = np.sqrt(1 - np.exp(-0.125 * 0.2**2 / 0.04))  # closed form for equal covariances
    assert distance == pytest.approx([0.0, shifted, 1.0], abs=1e-3)


def test_hellinger_distance_of_flat_things_is_finite():
    flat = np.diag([1.0, 1.0, 0.0])
    assert np.isfinite(hellinger_distance(np.zeros(3), flat, np.ones((1, 3)), flat[None])).all()


def test_covisibility_keeps_the_strongest():
    covisibility = Covisibility(gain=0.2, half_life=600.0, limit=3)
    for other in range(2, 20):
        for _ in range(other):
            covisibility.seen_together(1, other, 0.0)
    assert list(covisibility.of(1, 0.0)) == [19, 18, 17]
    covisibility.remove(19)
    assert list(covisibility.of(1, 0.0)) == [18, 17, 16]


def test_covisibility_is_symmetric_after_a_merge():
    covisibility = Covisibility(gain=0.2, half_life=600.0, limit=3)
    covisibility.seen_together(1, 2, 0.0)
    covisibility.seen_together(2, 3, 0.0)
    covisibility.merge(2, 1)
    assert covisibility.of(1, 0.0) == {3: 0.2}
    assert covisibility.of(3, 0.0) == {1: 0.2}
    assert covisibility.of(2, 0.0) == {}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  red \n chair\t", "red chair"),
        ("a\x00b\x1bc", "a b c"),
        ("", ""),
        ("x" * 999, "x" * 200),
        ("红 椅", "红 椅"),
    ],
)
def test_clean_text(text, clean):
    assert clean_text(text) == clean


def test_a_view_that_was_not_sure_of_the_colour_is_no_vote_against_it():
    votes = [
        CaptionVote("chair", "chair", 8.0),
        CaptionVote("chair", "red chair", 1.5),
        CaptionVote("chair", "blue chair", 0.5),
    ]
    assert elect(votes, 0.35)[2] == ("red",)
    votes.append(
        CaptionVote("chair", "blue wooden chair", 1.2)
    )  # a caption without a material does not vote against wood
    assert elect(votes, 0.35)[2] == ("blue", "red", "wooden")


@pytest.mark.parametrize("seed", range(20))
def test_votes_without_a_colour_change_none_that_is_elected_while_a_tenth_of_all_tell_it(seed):
    rng = np.random.default_rng(seed)
    colors = rng.permutation(["red", "blue", "gray", "black", "white"])[: rng.integers(1, 5)]
    votes = [CaptionVote("chair", f"{color} chair", float(rng.uniform(0.1, 5.0))) for color in colors]
    told = sum(vote.weight for vote in votes)
    # at 2.5, 0.35 of the votes with a colour are a tenth of all votes
    for weight in rng.uniform(0.0, 2.4 * told, 5):
        assert elect([*votes, CaptionVote("chair", "chair", float(weight))], 0.35)[2] == elect(votes, 0.35)[2]
    assert elect([*votes, CaptionVote("chair", "chair", 10.0 * told)], 0.35)[2] == ()


def test_elect_prefers_a_caption_over_none_and_breaks_ties_by_name():
    votes = [
        CaptionVote("chair", "", 1.0),
        CaptionVote("chair", "red chair", 1.0),
        CaptionVote("table", "table", 2.0),
    ]
    assert elect(votes, 0.35)[:2] == ("chair", "red chair")
    assert elect([], 0.35) == ("", "", ())
    assert elect([CaptionVote("mug", "", 1.0)], 0.35) == ("mug", "mug", ())


def test_merge_votes_adds_what_is_equal_once_cleaned():
    votes = merge_votes([CaptionVote("chair", "red  chair", 1.0)], [CaptionVote("chair", "red chair", 2.0)])
    assert votes == (CaptionVote("chair", "red chair", 3.0),)


def test_quality_rises_with_size_and_score_and_stays_in_bounds():
    small, large = sighting(1, pixels=100), sighting(1, pixels=2500)
    assert 0.0 < view_quality(small) < view_quality(large) <= 1.0
    assert view_quality(sighting(1, score=0.1)) < view_quality(large)
    assert view_quality(sighting(1, pixels=10**7)) <= 1.0


def test_regions_reach_a_little_past_their_cells():
    rooms = RegionMap(reach=1.0)
    mask = np.zeros((40, 40), np.uint16)
    mask[:, :10] = 3
    rooms.set_mask(mask, (-1.0, -1.0), 0.1)
    points = np.array([[-0.5, 0.0], [0.5, 0.0], [2.0, 0.0], [-1.5, 0.0], [-3.0, 0.0]])
    assert rooms.at(points).tolist() == [3, 3, 0, 3, 0]


def test_regions_are_named_by_what_stands_in_them():
    scene, feed = SceneDictionary(), Feed()
    things = [("bed", -4), ("nightstand", -3), ("stove", 3), ("fridge", 4), ("box", 14)]
    scene.update(feed(updated=tuple(instance(i + 1, (x, 0, 0.5), n, n) for i, (n, x) in enumerate(things))))
    mask = np.ones((100, 400), np.uint16)
    mask[:, 100:200] = 2
    mask[:, 200:] = 3
    regions = scene.assign_regions(
        mask,
        (-10.0, -5.0),
        0.1,
        [(1, 100.0, (-5, 0), (2,)), (2, 100.0, (5, 0), (1, 3)), (3, 200.0, (20, 0), (2,))],
    )
    assert [r.label for r in regions] == ["bedroom", "kitchen", ""]
    assert all(0.5 < r.label_weight <= 1.0 for r in regions[:2])
    assert [e.region_id for e in scene.flush().updated] == [1, 1, 2, 2, 3]
    assert scene.regions[2].neighbors == (1, 3)


def test_where_the_rooms_are_stays_as_it_was_asked_for():
    scene, place = SceneDictionary(), np.array([[0.5, 0.5]])
    scene.assign_regions(np.full((10, 10), 3, np.uint16), (0.0, 0.0), 0.1, [(3, 1.0, (0.5, 0.5), ())])
    rooms = scene.rooms
    scene.assign_regions(np.full((10, 10), 5, np.uint16), (0.0, 0.0), 0.1, [(5, 1.0, (0.5, 0.5), ())])
    assert (rooms.at(place).tolist(), scene.rooms.at(place).tolist()) == ([3], [5])


def test_similarity_count_is_equation_4():
    tiers = (0.2, 0.5, 0.8)
    assert tier_counts([0.1, 0.2, 0.6, 0.9], tiers) == (3, 2, 1)
    assert similarity_count([0.1, 0.2, 0.6, 0.9], tiers) == pytest.approx(0.2 * 3 + 0.5 * 2 + 0.8)
    assert similarity_count([]) == 0.0
    with pytest.raises(ValueError, match="tiers must rise"):
        tier_counts([0.5], (0.5, 0.5, 0.8))


def test_a_mirror_refuses_a_gap_and_ignores_the_past():
    mirror = SceneMirror()
    assert not mirror.apply(SceneDelta(1.0, revision=5, previous_revision=4))
    assert mirror.apply(SceneDelta(1.0, revision=2, previous_revision=0))
    assert mirror.apply(SceneDelta(1.0, revision=1, previous_revision=0))
    assert mirror.revision == 2


def test_a_mirror_starts_anew_only_with_all_of_another_session():
    mirror = SceneMirror()
    assert mirror.apply(SceneDelta(1.0, 3, 0, session_id="a"))
    assert not mirror.apply(SceneDelta(1.0, 4, 3, session_id="b"))
    assert mirror.session_id == "a"
    assert mirror.apply(SceneDelta(1.0, 1, 0, session_id="b"))
    assert (mirror.session_id, mirror.revision) == ("b", 1)
