"""Tests of the benchmark `people`: walkers walk to and fro and leave, and its bars fail if traces remain."""

from __future__ import annotations

from lodestar_eval.people_trials import BEGIN, LEAVE, people_world
from lodestar_eval.studies.people import BENCHMARK
from lodestar_sim.worlds import world_from_spec

GOOD = {
    "arm": "kept", "met": True, "tracks": 4, "in_map": 0, "surfaces": 0, "cells": 0, "contacts": 0, "own": 0,
    "their": 0, "touched": 0, "nearest_m": 1.3, "moving_s": 20.0, "near_s": 0.0, "roomy_s": 0.0, "metres": 15.0,
}  # fmt: skip


def test_walkers_come_walk_and_leave_the_same_for_the_same_seed():
    world = world_from_spec("apartment", 1)
    busy = people_world(world, 1)
    assert busy.events == people_world(world, 1).events
    walks = [event for event in busy.events if event.kind == "walk"]
    assert len(walks) == 3 and all(event.end >= LEAVE for event in walks)
    people = {event.object_id for event in walks}
    there = {thing.id for thing in busy.objects_at(BEGIN + 6.0)}
    assert people <= there and not people & {thing.id for thing in busy.objects_at(LEAVE + 0.1)}


def test_bars_fail_for_a_person_in_the_map_a_contact_and_coming_near():
    def missed(**changes):
        rows = [GOOD | changes, GOOD | {"arm": "plain"}]
        return [bar.name for bar in BENCHMARK.result(rows).bars if not bar.holds]

    assert missed() == []
    assert len(missed(in_map=1)) == len(missed(contacts=1)) == len(missed(met=False)) == 1
    assert len(missed(near_s=5.0, roomy_s=2.0)) == 1
