"""Tests of evidence by the bottleneck and its baselines: few memories, without repetition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from memory_builders import embed, hits_of, memory, primitive

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.selection import BOTTLENECK_EVIDENCE, SELECTIONS, bottleneck_evidence
from lodestar.memory.requests import Hit
from lodestar.models.phrases import MissingPhrases

CONFIG = BottleneckConfig()
CUES = embed(["red mug"])


def one_desk_often_and_five_more():
    """Return twenty looks at one desk whose captions fit best, and one look at each of five other places."""
    memories = [
        memory(1 + k, "a red mug", 3.0 * k, [primitive(1, centre=(0, 0, 1), caption="red mug")])
        for k in range(20)
    ]
    for n in range(5):
        thing = primitive(10 + n, centre=(10.0 * (n + 1), 0, 1), caption="red mug")
        text = f"a red mug beside the {('window', 'door', 'sofa', 'plant', 'sink')[n]}"
        memories.append(memory(100 + n, text, 100.0 + 3 * n, [thing]))
    return hits_of(memories, "a red mug")


def places(evidence):
    return {round(float(p.primitives[0].centre[0])) for p in evidence.pieces}


def test_neighbours_that_mean_the_same_are_one_piece_with_the_bottleneck_and_many_without(monkeypatch):
    """Eight red mugs stand on one table, two lie far away."""
    memories = [
        memory(1 + n, "a red mug", 3.0 * n, [primitive(1 + n, centre=(0.3 * n, 0, 1), caption="red mug")])
        for n in range(8)
    ]
    memories += [
        memory(
            50 + n,
            "a red mug somewhere",
            90.0 + n,
            [primitive(50 + n, centre=(20.0 + 9 * n, 0, 1), caption="red mug")],
        )
        for n in range(2)
    ]
    hits = hits_of(memories, "a red mug")
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", 3)
    ours = bottleneck_evidence(hits, CUES, embed, CONFIG)
    assert ours.clusters == 3
    assert {p.hit.memory.id for p in ours.pieces} >= {50, 51}
    without = SELECTIONS["without_ib"](hits, CUES, embed, CONFIG)
    assert without.clusters == 10
    assert not {p.hit.memory.id for p in without.pieces} & {50, 51}


def test_the_representative_is_the_best_caption_of_its_cluster_and_pieces_are_ranked(monkeypatch):
    mug = primitive(1, caption="red mug")
    memories = [memory(1, "a red mug and a blue plate", 0.0, [mug]), memory(2, "a red mug", 3.0, [mug])]
    with monkeypatch.context() as patch:
        patch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", 1)
        evidence = bottleneck_evidence(hits_of(memories, "a red mug"), CUES, embed, CONFIG)
    assert [p.hit.memory.id for p in evidence.pieces] == [2]
    assert evidence.pieces[0].primitives == (mug,)
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_THINGS_SHARE", 0.0)  # the paper's
    full = bottleneck_evidence(one_desk_often_and_five_more(), CUES, embed, CONFIG)
    scores = [p.hit.score for p in full.pieces]
    assert scores == sorted(scores, reverse=True)


def look_at_the_mug_and_again():
    """Return hits in which a mug's best caption is from the middle of the time; a far desk is relevant to no cue."""
    mug = primitive(1, caption="red mug")
    texts = ["a red mug and a blue plate", "a red mug", "a red mug and a green lamp"]
    return hits_of([memory(1 + k, text, 10.0 * k, [mug]) for k, text in enumerate(texts)], "a red mug")


@pytest.mark.parametrize(("which", "ids"), [("relevant", {2}), ("first", {2, 1}), ("last", {2, 3})])
def test_where_a_time_is_asked_for_the_first_or_last_look_stands_beside_the_best(which, ids, monkeypatch):
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", len(ids))
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_SAME_WORTH", 1.0)
    config = replace(CONFIG, representative=which)
    found = bottleneck_evidence(look_at_the_mug_and_again(), CUES, embed, config)
    assert {p.hit.memory.id for p in found.pieces} == ids


@pytest.mark.parametrize(("which", "ids"), [("first", {1, 2}), ("last", {4, 5})])
def test_room_is_filled_in_time_where_nothing_is_relevant_and_captions_are_alike(which, ids, monkeypatch):
    """A question about a room, which names no object in it."""
    hits = hits_of([memory(1 + k, "a print room", 10.0 * k, []) for k in range(5)], "a print room")
    hits = [replace(h, memory=replace(h.memory, primitives=(primitive(9, "sofa"),))) for h in hits]
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", 2)
    config = replace(CONFIG, representative=which)
    found = bottleneck_evidence(hits, embed(["print room"]), embed, config)
    assert {p.hit.memory.id for p in found.pieces} == ids


def test_a_place_that_answers_every_cue_is_worth_more_than_a_caption_that_sounds_like_it(monkeypatch):
    """The mug with the longer caption stands on the desk that the question names, and ranks first."""
    mug = primitive(1, caption="red mug")
    other, desk = primitive(2, centre=(9, 0, 1), caption="red mug"), primitive(3, "desk", (9, 0, 0.4), 1.0)
    long = "a red mug on a desk with much else in view"
    memories = [memory(1, "a red mug", 0.0, [mug]), memory(2, long, 3.0, [other, desk])]
    cues, config = embed(["red mug", "desk"]), replace(CONFIG, threshold=0.0)
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", 1)
    hits = hits_of(memories, "a red mug")
    for share, best in ((0.8, 2), (0.0, 1)):  # 0: the paper's
        monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_THINGS_SHARE", share)
        assert bottleneck_evidence(hits, cues, embed, config).pieces[0].hit.memory.id == best


def test_things_that_have_nothing_to_do_with_the_question_are_masked():
    things = [primitive(1, caption="red mug"), primitive(2, "sofa", (5, 5, 0))]
    evidence = bottleneck_evidence(
        hits_of([memory(1, "a red mug", 0, things)], "a red mug"), CUES, embed, CONFIG
    )
    assert evidence.induced == 2
    assert evidence.clusters == 1
    assert [p.entity_id for p in evidence.pieces[0].primitives] == [1]


def test_an_entity_that_moved_is_two_places():
    memories = [
        memory(1, "a red mug", 0.0, [primitive(1, centre=(0, 0, 1), caption="red mug")]),
        memory(2, "a red mug", 60.0, [primitive(1, centre=(8, 0, 1), caption="red mug")]),
    ]
    assert places(bottleneck_evidence(hits_of(memories, "a red mug"), CUES, embed, CONFIG)) == {0, 8}


def test_a_memory_without_things_competes_and_the_same_word_comes_once(monkeypatch):
    memories = [memory(k, "the red mug is mine", 3.0 * k) for k in (1, 2, 3)]
    memories.append(memory(9, "a red mug", 30.0, [primitive(1, caption="red mug")]))
    monkeypatch.setattr("lodestar.memory.evidence.selection.BOTTLENECK_EVIDENCE", 2)
    config = replace(CONFIG, threshold=0.0)
    evidence = bottleneck_evidence(hits_of(memories, "a red mug"), CUES, embed, config)
    assert [p.hit.memory.id for p in evidence.pieces] == [9, 3]


def test_the_induced_subset_is_bounded_by_leaving_out_the_worst_captions():
    memories = [
        memory(
            k + 1,
            "a red mug" + " thing" * (k // 4),
            float(k),
            [primitive(k * 5 + n, centre=(k, n, 0)) for n in range(5)],
        )
        for k in range(20)
    ]
    hits = hits_of(memories, "a red mug")
    config = replace(CONFIG, threshold=0.0, max_primitives=23)
    assert bottleneck_evidence(hits, CUES, embed, config).induced == 20
    assert bottleneck_evidence(hits, CUES, embed, replace(config, max_primitives=2)).induced == 5


def test_captions_below_the_threshold_induce_nothing():
    memories = [
        memory(1, "a red mug", 0.0, [primitive(1, caption="red mug")]),
        memory(2, "nothing like that at all", 3.0, [primitive(2, centre=(9, 0, 0), caption="red mug")]),
    ]
    evidence = bottleneck_evidence(hits_of(memories, "a red mug"), CUES, embed, CONFIG)
    assert [p.hit.memory.id for p in evidence.pieces] == [1]


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_selection_is_bounded_deterministic_and_survives_odd_hits(name):
    select = SELECTIONS[name]
    assert select([], CUES, embed, CONFIG).pieces == ()
    hits = one_desk_often_and_five_more()
    odd = primitive(99, centre=(np.nan, 0, 0), caption="red mug")
    hits.append(Hit(memory(200, "a red mug", 200.0, [odd]), 0.99, None))
    hits.append(Hit(memory(201, "a red mug", 201.0), float("nan"), None))
    hits.append(hits[0])  # the same memory a second time
    first = select(hits, CUES, embed, CONFIG)
    ids = [p.hit.memory.id for p in first.pieces]
    assert len(ids) == len(set(ids)) <= BOTTLENECK_EVIDENCE
    assert 201 not in ids
    again = select(list(reversed(hits)), CUES, embed, CONFIG)
    assert [p.hit.memory.id for p in again.pieces] == ids


@pytest.mark.parametrize("name", SELECTIONS)
def test_hits_without_scores_are_all_of_equal_worth(name):
    """A request by time or place alone gives no scores."""
    hits = [replace(hit, score=0.0) for hit in one_desk_often_and_five_more()]
    assert SELECTIONS[name](hits, CUES, embed, CONFIG).pieces


def test_missing_phrases_reach_the_caller():
    def lacking(phrases):
        raise MissingPhrases(tuple(phrases))

    with pytest.raises(MissingPhrases):
        bottleneck_evidence(one_desk_often_and_five_more(), CUES, lacking, CONFIG)


def test_keyframes_are_the_representatives():
    mug = primitive(1, caption="red mug")
    far = primitive(2, centre=(9, 0, 0), caption="red mug")
    memories = [
        memory(1, "a red mug", 0.0, [mug], keyframe_ids=(4, 5, 6)),
        memory(2, "a red mug", 3.0, [far], keyframe_ids=(8,)),
    ]
    evidence = bottleneck_evidence(hits_of(memories, "a red mug"), CUES, embed, CONFIG)
    assert set(evidence.keyframe_ids) == {5, 8}
