"""Tests of searches for an object of a former session: the memory shortens them, a wrong one costs little."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from small_building import CART, small_world

from lodestar.memory.records import EventKind
from lodestar.storage.saved_map import SCENE
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.last_seen import (
    APART,
    CARRIED_AWAY,
    STILL_THERE,
    Scenario,
    former_session,
    recognised,
    scenario_of,
    search,
)
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.prior_map import ROUND, explored
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.studies import last_seen
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of

SETTINGS = EpisodeSettings(width=160, height=120, time_limit=150.0, thinking=0.05)


@pytest.fixture(scope="module")
def rooms():
    """Return two rooms: the suitcase is in the kitchen or, later, the office; the robot starts in the office."""
    world = small_world()
    suitcase = world.object(CART)
    others = tuple(thing for thing in world.objects if thing.id != CART)
    there = replace(suitcase, pose=(0.6, 2.0, 0.0, 0.0))
    without = replace(world, objects=others)
    return Scenario(
        "find the orange suitcase", CART, (1.6, 2.9, 1.57), without, world,
        replace(world, objects=(*others, there)), (5.0, 2.4, math.pi / 2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def known(rooms):
    """Return the map of the rooms without the suitcase, and the memories of a session that saw it in the kitchen."""
    tour = replace(ROUND, limit=60.0, width=160, height=120)
    saved = explored(rooms.without, 1, SETTINGS, phrase_book(), tour)
    return saved, former_session(rooms, saved, 1, SETTINGS, phrase_book())


@pytest.fixture(scope="module")
def run(rooms, known):
    saved, keeper = known

    def searched(case, remembers):
        memory = keeper.copy() if remembers else None
        return search(rooms, case, saved, 1, EpisodeRunner(phrase_book(), SETTINGS), memory), memory

    return searched


def test_the_former_session_remembers_what_the_map_does_not_have(known):
    saved, keeper = known
    labels = {thing.label for memory in keeper.memories for thing in memory.primitives}
    assert "suitcase" in labels
    assert "suitcase" not in str(saved.parts[SCENE].meta)


def test_a_session_that_took_the_thing_for_another_or_did_not_see_it_has_not_recognised_it(rooms, known):
    _, keeper = known
    assert recognised(rooms, keeper)
    assert not recognised(replace(rooms, before=rooms.after), keeper)  # remembered, but at another place
    keeper = keeper.copy()
    keeper.memories = [
        replace(m, primitives=tuple(p for p in m.primitives if p.label != "suitcase"))
        for m in keeper.memories
    ]
    assert not recognised(rooms, keeper)


def test_a_thing_that_is_still_there_is_gone_to_at_once_and_found_sooner(run):
    with_memory, _ = run(STILL_THERE, True)
    without, _ = run(STILL_THERE, False)
    assert with_memory.outcome.success, with_memory.outcome.failure
    said = [d.explanation for d in with_memory.decisions if d.chosen == "semantic_map"]
    assert "the orange suitcase was last seen here some time ago" in said[0]
    assert not any("last seen here" in d.explanation for d in without.decisions)
    assert with_memory.outcome.duration < without.outcome.duration


def test_a_thing_that_was_carried_away_is_found_elsewhere_and_its_old_place_is_remembered_as_empty(run):
    result, memory = run(CARRIED_AWAY, True)
    assert result.outcome.success, result.outcome.failure
    gone = [one for one in memory.memories if one.event is EventKind.VANISHED]
    assert any("last seen here" in d.explanation for d in result.decisions), "it went there first"
    assert [one.facts["label"] for one in gone] == ["suitcase"]


def test_a_scenario_is_the_same_for_the_same_seed_and_both_places_are_far_and_out_of_sight():
    one, two = scenario_of("apartment", 11), scenario_of("apartment", 11)
    assert (one.words, one.start, one.view) == (two.words, two.start, two.view)
    before, after = one.before.object(one.target_id), one.after.object(one.target_id)
    assert math.dist(before.xy, after.xy) > 1.0 and before.movable
    truth = truth_of(one.before)
    assert truth.seen(before, [one.view])[0] >= truth.seen(before, truth.views(before, 0.2, 0.8)).max()
    ways = truth_of(one.without).lengths(one.view[:2])
    there = truth_of(one.without).grid.cells_of(after.xy)
    assert ways[tuple(there)] >= APART
    assert all(thing.id != one.target_id for thing in one.without.objects)


def test_a_building_without_anything_to_carry_is_refused():
    bare = world_from_spec("apartment", 11)
    assert any(thing.movable for thing in bare.objects)
    with pytest.raises(WorldError):
        scenario_of("no such building", 1)


def outcome(case, remembers, seed, path, success=True):
    made = EpisodeOutcome(
        "apartment", seed, "find it", success, success, success, 0, "", "" if success else "lost", 0.5, path,
        5.0, 2.0 * path, 1.0, 1.0, 0, 1.0, 3, 10,
    )  # fmt: skip
    return made.under(case, "memory" if remembers else "no_memory", "apartment")


def result_of(found, monkeypatch):
    monkeypatch.setattr("lodestar_eval.last_seen.searches", lambda *_: found)
    return last_seen.BENCHMARK.result(list(last_seen._measure("apartment", 1, SETTINGS)))


def test_differences_are_paired_over_buildings(monkeypatch):
    found = [
        outcome(case, remembers, seed, 6.0 + (0.0 if remembers else 4.0) + seed, seed != 3 or remembers)
        for case in (STILL_THERE, CARRIED_AWAY)
        for seed in (1, 2, 3)
        for remembers in (True, False)
    ]
    result = result_of(found, monkeypatch)
    assert result.metrics["path_m.there"] == result.metrics["path_m_high.there"] == pytest.approx(-4.0)
    assert result.metrics["sr.there.memory"] == 1.0
    assert result.metrics["sr.there.no_memory"] == pytest.approx(2 / 3)
    assert result.metrics["searches.gone.memory"] == 3
    assert all(bar.holds for bar in result.bars)
    other = {"memory": "no_memory", "no_memory": "memory"}
    worse = [replace(one, policy=other[one.policy]) for one in found]
    assert not result_of(worse, monkeypatch).bars[0].holds
