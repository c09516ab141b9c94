"""Tests of complete headless episodes: success, reproducibility, and independence of ids and names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from embedders import LetterEmbedder
from quick_episodes import QUICK

from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.visibility import line_of_sight
from lodestar.models.phrases import PhraseBook
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.pictures import picture_of
from lodestar_eval.settings import EpisodeSettings, robot_config
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.judge import shortest_path_length
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import Task, default_task
from lodestar_sim.worlds import Room, Wall, World, WorldObject, world_from_spec
from lodestar_sim.worlds.elements import Slab
from lodestar_sim.worlds.truth import truth_of

pytestmark = pytest.mark.slow

SEED = 3
NOISE = NoiseConfig(miss=0.05, split=0.02, wrong_label=0.02, erode_px=1, score_std=0.05)


@pytest.fixture(scope="module")
def world() -> World:
    return world_from_spec("apartment", SEED)


@pytest.fixture(scope="module")
def task(world) -> Task:
    return default_task(world, SEED)


def run(world: World, task: Task, seconds: float, **changes) -> EpisodeRun:
    settings = replace(QUICK, time_limit=seconds, **changes)
    return EpisodeRunner(PhraseBook(LetterEmbedder()), settings).run(world, task, SEED)


@pytest.fixture(scope="module")
def complete(world, task) -> EpisodeRun:
    return run(world, task, 300.0)


def test_an_episode_finds_its_target_by_ground_truth(complete):
    outcome = complete.outcome
    assert outcome.success and outcome.claimed and outcome.error_code == 0, outcome.failure
    assert outcome.distance <= 1.0 and complete.verdict.in_sight
    assert 0.0 < outcome.spl <= 1.0
    assert outcome.path_length >= 0.9 * outcome.shortest - 1.0


def test_an_episode_accounts_for_time_and_decisions(complete):
    outcome = complete.outcome
    assert outcome.frames == pytest.approx(outcome.duration / QUICK.frame_interval, rel=0.25)
    assert {"render", "detect", "fuse", "scene", "grid", "navigate", "loop"} <= set(outcome.stages)
    assert sum(outcome.decisions.values()) == len({decision.epoch for decision in complete.decisions})
    assert outcome.cpu > 0.0 and all(s >= 0.0 and n > 0 for s, n in outcome.stages.values())
    assert 0.0 < outcome.coverage <= 1.0


def test_the_way_of_an_episode_adds_up(complete):
    outcome, way = complete.outcome, complete.outcome.way
    parts = sum(way[f"way_{name}"] for name in ("unseen", "unmapped", "unknown", "elsewhere", "approach"))
    assert parts == pytest.approx(outcome.path_length, abs=0.05)
    assert way["way_unseen"] > 0.0 and way["way_approach"] > 0.0
    assert way["way_wrong"] <= outcome.path_length
    assert sum(outcome.driven.values()) == pytest.approx(outcome.path_length, abs=0.01)
    assert len(complete.drivers) == len(complete.path)


def test_an_episode_leaves_a_map_and_a_decision_log(complete, tmp_path):
    picture_of(complete, tmp_path / "map.png")
    complete.save_decisions(tmp_path / "decisions.jsonl")
    # writing once more replaces the file, without appending
    complete.save_decisions(tmp_path / "decisions.jsonl")
    assert (tmp_path / "map.png").stat().st_size > 10_000
    assert len((tmp_path / "decisions.jsonl").read_text().splitlines()) == len(complete.decisions)


def test_a_time_limit_ends_an_episode_without_success(world, task):
    outcome = run(world, task, 3.0).outcome
    assert not outcome.success and not outcome.claimed
    assert outcome.error_code == 11004 and "TIME_LIMIT" in outcome.failure
    assert outcome.duration <= 3.0 + 0.3
    assert outcome.spl == 0.0


def renamed(world: World, task: Task, rng: np.random.Generator) -> tuple[World, Task]:
    """Return the same building with other ids and another name."""
    ids = [thing.id for thing in (*world.objects, *world.decals)]
    other = dict(zip(ids, (int(i) for i in rng.permutation(np.arange(1, 60_000))[: len(ids)])))
    other[0] = 0
    objects = tuple(
        replace(
            thing,
            id=other[thing.id],
            supported_by=other[thing.supported_by],
            contained_in=other[thing.contained_in],
        )
        for thing in world.objects
    )
    decals = tuple(replace(decal, id=other[decal.id]) for decal in world.decals)
    assert not world.events
    changed = replace(
        world,
        name="elsewhere",
        objects=objects,
        decals=decals,
        charging_station=other[world.charging_station],
    )
    return changed, replace(task, target_ids=tuple(other[i] for i in task.target_ids))


def test_ids_and_names_of_the_simulator_change_nothing(world, task):
    first = run(world, task, 20.0, robot=robot_config(NOISE))
    changed_world, changed_task = renamed(world, task, np.random.default_rng(5))
    second = run(changed_world, changed_task, 20.0, robot=robot_config(NOISE))
    np.testing.assert_array_equal(first.path, second.path)
    assert [decision.chosen for decision in first.decisions] == [d.chosen for d in second.decisions]
    ours, theirs = first.map.mirror.entities, second.map.mirror.entities
    assert len(ours) > 3
    assert {i: (e.label, e.caption) for i, e in ours.items()} == {
        i: (e.label, e.caption) for i, e in theirs.items()
    }
    for identity, entity in ours.items():
        np.testing.assert_array_equal(entity.mean, theirs[identity].mean)


def test_another_seed_of_the_noise_is_another_run(world, task):
    settings = replace(QUICK, time_limit=8.0, robot=robot_config(NOISE))
    runner = EpisodeRunner(PhraseBook(LetterEmbedder()), settings)
    runs = [runner.run(world, task, seed) for seed in (1, 2)]
    means = [[e.mean for _, e in sorted(r.map.mirror.entities.items())] for r in runs]
    assert len(means[0]) != len(means[1]) or not np.array_equal(means[0], means[1])


def test_a_frame_without_depth_is_counted_and_dropped(world, task):
    simulator = Simulator(world, seed=1, start=task.start)
    robot = SimulatedRobot(
        simulator, EpisodeSettings(), PhraseBook(LetterEmbedder()), np.random.default_rng(0)
    )
    seen = robot.headless.map
    image = simulator.render(rgb=False, width=320, height=240)
    robot.turn()
    robot.see(replace(image, depth=np.zeros_like(image.depth)))
    assert seen.rejected == {"NO_DEPTH": 2}, "neither the surfaces nor the instances take it"
    assert robot.grid.free_area > 1.0, "the grid does not wait for depth"
    robot.see(replace(image, stamp=1.0))
    robot.see(replace(image, stamp=1.0))
    assert seen.rejected == {"NO_DEPTH": 2, "STALE": 1}


def test_a_target_behind_a_locked_door_is_reported_absent_with_what_was_seen_instead():
    """The study can be explored completely within a minute; the room beside it is closed."""
    locked = world_from_spec("apartment?locked=1", 2)
    (backpack,) = (thing for thing in locked.objects if thing.category == "backpack")
    assert not np.isfinite(shortest_path_length(locked, locked.start, (backpack.id,)))
    flat = shut_off(replace(backpack, pose=(3.2, 0.0, 0.0, 0.0), supported_by=0, contained_in=0))
    assert not np.isfinite(shortest_path_length(flat, flat.start, (backpack.id,)))
    outcome = run(flat, Task("find the backpack", (backpack.id,), flat.start), 300.0).outcome
    assert not outcome.success and not outcome.claimed
    assert outcome.error_code == ErrorCode.TARGET_NOT_FOUND, outcome.failure
    assert "explored" in outcome.failure.lower()


def shut_off(thing: WorldObject) -> World:
    """Return a study of 4.5 x 4 m with a desk, and a closed room without a door that contains the object."""
    walls = (
        Wall(-2.6, -2.1, 4.1, -2.0, 0.0, 2.5), Wall(-2.6, 2.0, 4.1, 2.1, 0.0, 2.5),
        Wall(-2.6, -2.0, -2.5, 2.0, 0.0, 2.5), Wall(2.0, -2.0, 2.1, 2.0, 0.0, 2.5),
        Wall(4.0, -2.0, 4.1, 2.0, 0.0, 2.5),
    )  # fmt: skip
    bounds = (-2.6, -2.1, 4.1, 2.1)
    slabs = (Slab(*bounds, 0.0, "beige", "wood"), Slab(*bounds, 2.5, "white", "plaster", ceiling=True))
    desk = WorldObject(
        1, "desk", "brown desk", "brown", "wood", (1.2, 0.6, 0.75), "param:desk", (1.1, 1.6, 0.0, 0.0)
    )
    rooms = (
        Room(1, "study", ((-2.5, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.5, 2.0))),
        Room(2, "storage", ((2.1, -2.0), (4.0, -2.0), (4.0, 2.0), (2.1, 2.0))),
    )
    return World(
        "flat", "apartment", 0, bounds, (-1.5, -1.0, 0.0), rooms, walls, slabs, (desk, thing), (), ()
    )


def _before(world, puddle) -> tuple[float, float, float]:
    """Return a reachable pose that faces a puddle from about 2.2 m."""
    truth, center = truth_of(world), np.array(puddle.center)
    places = truth.grid.points_of(np.argwhere(np.isfinite(truth.lengths(tuple(world.start[:2])))))
    away = np.hypot(*(places - center).T)
    places = places[np.argsort(np.abs(away - 2.2), kind="stable")[:400]]
    x, y = places[line_of_sight(truth.grid, center, places)][0]
    return float(x), float(y), float(np.arctan2(center[1] - y, center[0] - x))


def test_what_the_directive_says_to_keep_away_from_is_kept_away_from():
    """The robot sees the wet floor from its start pose; a keep-out zone surrounds it from then on."""
    world = world_from_spec("apartment", 4)
    own = default_task(world, 4)
    (puddle,) = world.decals
    task = replace(
        own, directive=f"{own.directive}; keep 1 m away from the wet floor", start=_before(world, puddle)
    )
    settings = replace(QUICK, time_limit=90.0)
    outcome = EpisodeRunner(PhraseBook(LetterEmbedder()), settings).run(world, task, 4)
    angle = np.linspace(0.0, 2.0 * np.pi, 90)
    edge = (
        np.array(puddle.center)
        + np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.array(puddle.size) / 2.0
    )
    known = [e for e in outcome.map.mirror.entities.values() if e.label == puddle.category]
    assert known, "it was seen"
    zone = outcome.map.grid.keep_out
    assert zone is not None
    row, column = outcome.map.grid.cells_of(np.array([puddle.center]))[0]
    assert zone[row, column]
    then = outcome.path[outcome.path[:, 0] > min(e.first_seen for e in known) + 3.0]
    nearest = np.linalg.norm(then[:, None, 1:3] - edge[None], axis=2).min()
    assert nearest > 1.0


def test_a_room_that_is_never_to_be_entered_is_explored_around():
    """The same exploration without the ban enters the kitchen within this time (after 103 s of it)."""
    world = world_from_spec("apartment", 4)
    task = Task("explore the building, never enter the kitchen", (), world.start)
    settings = replace(QUICK, time_limit=160.0)
    outcome = EpisodeRunner(PhraseBook(LetterEmbedder()), settings).run(world, task, 4)
    (kitchen,) = (r for r in world.rooms if r.label == "kitchen")
    x0, y0, x1, y1 = kitchen.rect
    x, y = outcome.path[:, 1], outcome.path[:, 2]
    assert not ((x > x0) & (x < x1) & (y > y0) & (y < y1)).any()
    mirror, zone = outcome.map.mirror, outcome.map.grid.keep_out
    assert "kitchen" in [region.label for region in mirror.regions.values()], "it was seen"
    (low, high) = outcome.map.grid.cells_of(np.array([[x0, y0], [x1, y1]]))
    assert zone is not None and zone[low[0] : high[0], low[1] : high[1]].sum() > 200, "2 m2 of it are barred"
