"""Tests of the baselines for the robot's selection of evidence."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.selection import BOTTLENECK_EVIDENCE, bottleneck_evidence
from lodestar.memory.requests import Hit
from lodestar_eval.memory_qa.rivals import RIVALS

sys.path.insert(0, str(Path(__file__).parents[2] / "lodestar" / "test" / "memory"))

from memory_builders import embed, hits_of, memory, primitive

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


def test_cosine_returns_one_place_six_times_and_ours_six_places():
    hits = one_desk_often_and_five_more()
    assert places(RIVALS["cosine"](hits, CUES, embed, CONFIG)) == {0}
    ours = bottleneck_evidence(hits, CUES, embed, CONFIG)
    assert places(ours) == {0, 10, 20, 30, 40, 50}
    assert ours.clusters == 6
    assert len(ours.pieces) == BOTTLENECK_EVIDENCE


def test_object_captions_rank_by_the_things_own_words_and_take_their_largest_sight(monkeypatch):
    memories = [
        memory(1, "much to see", 0.0, [primitive(1, caption="red mug", pixels=50)]),
        memory(2, "much to see", 3.0, [primitive(1, caption="red mug", pixels=900)]),
        memory(3, "a red mug", 6.0, [primitive(2, "sofa", (5, 0, 0))]),
    ]
    monkeypatch.setattr("lodestar_eval.memory_qa.rivals.BOTTLENECK_EVIDENCE", 1)
    evidence = RIVALS["object_captions"](hits_of(memories, "a red mug"), CUES, embed, CONFIG)
    assert [p.hit.memory.id for p in evidence.pieces] == [2]


def test_mmr_prefers_another_text_and_strata_another_time(monkeypatch):
    hits = one_desk_often_and_five_more()
    texts = {p.hit.memory.text for p in RIVALS["mmr"](hits, CUES, embed, CONFIG).pieces}
    assert len(texts) > 1
    assert {p.hit.memory.text for p in RIVALS["cosine"](hits, CUES, embed, CONFIG).pieces} == {"a red mug"}
    monkeypatch.setattr("lodestar_eval.memory_qa.rivals.BOTTLENECK_EVIDENCE", 2)
    config = replace(CONFIG, threshold=0.0)
    strata = RIVALS["time_stratified"](hits, CUES, embed, config)
    starts = [p.hit.memory.start for p in strata.pieces]
    assert min(starts) < 57.0 < 60.0 <= max(starts) + 3.0


@pytest.mark.parametrize("name", RIVALS)
def test_every_selection_is_bounded_deterministic_and_survives_odd_hits(name):
    select = RIVALS[name]
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


@pytest.mark.parametrize("name", RIVALS)
def test_hits_without_scores_are_all_of_equal_worth(name):
    """A request by time or place alone gives no scores."""
    hits = [replace(hit, score=0.0) for hit in one_desk_often_and_five_more()]
    assert RIVALS[name](hits, CUES, embed, CONFIG).pieces
