"""Tests of the benchmark `people`: walkers walk to and fro and leave, and its bars fail if traces remain."""

from __future__ import annotations

from dataclasses import replace

from lodestar_eval.benchmarks.people import _result
from lodestar_eval.people_trials import BEGIN, LEAVE, PeopleTrial, people_world
from lodestar_sim.worlds import world_from_spec

GOOD = PeopleTrial(1, 1.2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1.3, 20.0, 0.0, 0.0, 15.0, 80.0)


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
        return [bar.name for bar in _result([replace(GOOD, **changes)], [GOOD]).bars if not bar.holds]

    assert missed() == []
    assert len(missed(entities=1)) == len(missed(instances=1)) == len(missed(contacts=1)) == 1
    assert len(missed(near=5.0, roomy=2.0)) == 1
