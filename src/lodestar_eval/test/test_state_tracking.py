"""Tests of tours of changing rooms: changes out of view, beliefs judged by place and kind, leftover entities wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_building import BIN, CART, CHAIR_A, small_world

from lodestar.scene.records import Entity
from lodestar_eval import state_tracking
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.registry import all_benchmarks
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.state_tracking import Fate, Scenario, TourOutcome, Track, scenario_of, track
from lodestar_eval.studies import state_tracking as study
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of


@pytest.fixture(scope="module")
def tour():
    return scenario_of("apartment", 711)


def test_a_fifth_of_the_movable_things_change_and_every_kind_of_change_happens(tour):
    world = world_from_spec("apartment", 711)
    assert 2 <= len(tour.fates) <= 0.25 * sum(t.movable for t in world.objects)
    assert {f.kind for f in tour.fates} == {"moved", "vanished", "appeared"}
    assert tour.fates == scenario_of("apartment", 711).fates


def test_changes_happen_after_the_first_round_and_out_of_view(tour):
    world = world_from_spec("apartment", 711)
    for fate in tour.fates:
        visit = int(fate.time / tour.interval)
        assert visit >= len(tour.visits) // state_tracking.ROUNDS
        if fate.before is not None:
            assert not truth_of(world).seen(fate.before, tour.visits[visit]).any()
    late = [f.after.id for f in tour.fates if f.kind == "appeared"]
    assert not {t.id for t in tour.world.at(0.0).objects} & set(late)
    assert set(late) <= {t.id for t in tour.world.at(state_tracking.LENGTH).objects}


def belief(identity, thing, place=None):
    low, high = small_world().box(thing)
    shift = np.zeros(3) if place is None else np.array(place) - (low + high) / 2.0
    return Entity(
        identity,
        thing.category,
        thing.caption,
        (low + high) / 2.0 + shift,
        np.eye(3) * 0.01,
        low + shift,
        high + shift,
    )


def judged(held, fates, time, world=None):
    world = world or small_world()
    return state_tracking._judged(held, world, fates, time, {t.id for t in small_world().objects})


def test_a_belief_at_its_thing_is_right_and_a_missing_one_is_wrong():
    things = small_world().objects
    right = judged([belief(100 + t.id, t) for t in things if t.id != BIN], (), 5.0)
    assert not right.pop(BIN) and all(right.values())


def test_a_thing_that_is_gone_is_right_only_without_a_belief_where_it_was():
    world = small_world()
    bin_ = world.object(BIN)
    after = replace(world, objects=tuple(t for t in world.objects if t.id != BIN))
    fate = Fate("vanished", 3.0, bin_, None)
    held = [belief(100 + t.id, t) for t in after.objects]
    assert judged(held, (fate,), 5.0, after)[BIN]
    assert not judged([*held, belief(1, bin_)], (fate,), 5.0, after)[BIN]


def test_a_moved_thing_is_wrong_while_its_old_place_is_believed_too():
    world = small_world()
    cart = world.object(CART)
    there = replace(cart, pose=(0.6, 2.0, 0.0, 0.0))
    after = replace(world, objects=(*(t for t in world.objects if t.id != CART), there))
    fate = Fate("moved", 3.0, cart, there)
    others = [belief(100 + t.id, t) for t in after.objects if t.id != CART]
    low, high = after.box(there)
    new = belief(2, cart, (low + high) / 2.0)
    assert judged([*others, new], (fate,), 5.0, after)[CART]
    assert not judged([*others, new, belief(1, cart)], (fate,), 5.0, after)[CART]
    assert not judged([*others, belief(1, cart)], (fate,), 5.0, after)[CART]


def test_a_belief_of_another_kind_is_no_belief_of_the_thing():
    chair = small_world().object(CHAIR_A)
    wrong = replace(belief(1, chair), label="plant")
    assert not judged([wrong], (), 5.0)[CHAIR_A]


def test_a_building_in_which_nothing_moves_is_left_out(monkeypatch):
    still = replace(small_world(), objects=tuple(replace(t, movable=False) for t in small_world().objects))
    monkeypatch.setattr(state_tracking, "world_from_spec", lambda spec, seed: still)
    with pytest.raises(WorldError):
        scenario_of("rooms", 1)


def test_a_short_tour_of_two_rooms_scores_every_row(monkeypatch):
    """The bin is removed and the suitcase moved after the first round."""
    world, turns = small_world(), state_tracking.TURNS
    there = replace(world.object(CART), pose=(6.2, 0.6, 0.0, 0.0))
    fates = Fate("vanished", 30.0, world.object(BIN), None), Fate("moved", 50.0, world.object(CART), there)
    angles = 2.0 * np.pi * np.arange(turns) / turns
    stops = ((2.0, 2.0), (2.3, 2.6), (5.6, 2.2), (6.0, 2.0))
    once = np.stack([np.column_stack([np.tile(place, (turns, 1)), angles]) for place in stops])
    monkeypatch.setattr(state_tracking, "ROUNDS", 3)
    visits = np.tile(once, (state_tracking.ROUNDS, 1, 1))
    scenario = Scenario(state_tracking._with_events(world, fates), visits, 6.0, fates)
    monkeypatch.setattr(state_tracking, "scenario_of", lambda spec, seed: scenario)
    outcome = track("rooms", 3, EpisodeSettings(width=160, height=120), phrase_book())
    means = {row: float(np.mean(outcome.tracks[row].right)) for row in state_tracking.ROWS}
    assert means["lodestar"] >= means["dictionary"] >= means["last_seen"] > 0.2
    assert means["lodestar"] > means["last_seen"], "the bin is seen to be gone"
    assert outcome.fates == 2 and outcome.tracks["lodestar"].found >= 1


def test_the_report_pairs_the_rows_over_buildings(monkeypatch):
    values = dict(zip(state_tracking.ROWS, (0.95, 0.9, 0.8)))
    tracks = {row: Track([value], [10.0], 4, 3, 2) for row, value in values.items()}
    monkeypatch.setattr(state_tracking, "track", lambda spec, seed, *_: TourOutcome("a", seed, 3, tracks))
    rows = [row for seed in (1, 2) for row in study._measure("a", seed, EpisodeSettings())]
    result = study.BENCHMARK.result(rows)
    assert result.metrics["sta.lodestar"] == pytest.approx(0.95)
    assert result.metrics["better_than_last_seen"] == pytest.approx(0.15)
    assert (result.metrics["precision"], result.metrics["recall"]) == (0.75, pytest.approx(4 / 6))
    assert all(bar.holds for bar in result.bars) and "state-tracking" in all_benchmarks()
