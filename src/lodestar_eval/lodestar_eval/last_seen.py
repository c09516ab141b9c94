"""Searches for an object seen only in a former session, either unmoved or carried elsewhere since."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.records import MapName, Memory
from lodestar.memory.requests import Hit, Request
from lodestar.memory.store import Statistics
from lodestar.models.phrases import PhraseBook
from lodestar.storage.saved_map import SavedMap
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.prior_map import explored
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import MAX_PATH, MIN_PATH, Task, described
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World, WorldObject

STILL_THERE, CARRIED_AWAY = "still there", "carried away"
LOOK = 8.0  # simulated seconds that the former session views the object; chosen: two segments and more
APART = 4.0  # metres of path between the two places of the object; chosen: another part of the building
SAME_PLACE = 1.0  # metres, greatest error of the target's position in a memory; chosen
# share of the object's points in view, and metres of the view from it; as in `tasks`
_SHARE, _NEAR = 0.2, 0.8
_TRIES = 40


@dataclass
class ListedMemories:
    """Memory store in a Python list, which later sessions can continue."""

    memories: list[Memory] = field(default_factory=list)
    map: MapName = field(default_factory=lambda: MapName(1))

    def add(self, memory: Memory, vector: np.ndarray | None = None) -> int:
        """Store a memory and return its id."""
        self.memories.append(replace(memory, id=len(self.memories) + 1))
        return len(self.memories)

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the map to which new memories belong."""
        self.map = name

    def search(self, request: Request) -> list[Hit]:
        """Return the newest memories of the map; ignores the request's filters."""
        own = [Hit(memory) for memory in reversed(self.memories) if memory.map == self.map]
        return own[: request.limit]

    def last_sights(self, limit: int) -> list[Memory]:
        """Return all memories of the map, oldest first; ignores `limit`."""
        return [memory for memory in self.memories if memory.map == self.map]

    name = "list"

    def images(self, limit: int) -> list[ImageName]:
        """Return the names of at most `limit` keyframes, the newest first."""
        return list(dict.fromkeys(image for one in reversed(self.memories) for image in one.images))[:limit]

    def statistics(self) -> Statistics:
        """Return the number of memories, and of those that belong to another map."""
        others = sum(memory.map != self.map for memory in self.memories)
        counts = {each.name: 0 for each in fields(Statistics) if each.name != "problems"}
        return Statistics(**{**counts, "records": len(self.memories), "other_maps": others}, problems={})

    def copy(self) -> ListedMemories:
        """Return a store with the same memories, for another session."""
        return ListedMemories(list(self.memories), self.map)


@dataclass(frozen=True)
class Scenario:
    """Search scenario with one object in one building. without: the building as mapped, without the object;
    before: with the object in the former session; after: with the object carried elsewhere.
    """

    words: str
    target_id: int
    start: tuple[float, float, float]
    without: World
    before: World
    after: World
    view: tuple[float, float, float]  # camera pose of the former session


def scenario_of(spec: str, seed: int) -> Scenario:
    """Return the scenario of a building, reproducible by seed. Raises WorldError if there is none."""
    world = world_from_spec(spec, seed)
    rng = np.random.default_rng([seed, 0x1A57])
    loaded = {thing.supported_by for thing in world.objects}
    for thing, phrase in described(world, seed, ("color",)):
        if not thing.movable or thing.id in loaded or thing.contained_in:
            continue
        others = tuple(other for other in world.objects if other.id != thing.id)
        without = replace(world, objects=others, events=())
        for there in elsewhere(world, without, thing, rng):
            after = replace(world, objects=(*others, there), events=())
            start = _start(world, after, thing, there, rng)
            if start is not None:
                return Scenario(
                    f"find the {phrase}", thing.id, start, without, world, after, _best_view(world, thing)
                )
    raise WorldError(
        f"{spec}, seed {seed}: it has nothing that can be carried to another part; take another seed"
    )


def elsewhere(
    world: World, without: World, thing: WorldObject, rng: np.random.Generator
) -> Iterator[WorldObject]:
    """Yield the object at random open places far from its original place."""
    truth, radius = truth_of(without), math.hypot(*thing.size[:2]) / 2.0
    lengths = truth.lengths(tuple(truth_of(world).views(thing, _SHARE, _NEAR)[0][:2]))
    far = np.isfinite(lengths) & (lengths >= APART) & ~truth.covered & (truth.clearance >= radius + 0.35)
    cells = np.argwhere(far)
    for x, y in truth.grid.points_of(cells[rng.permutation(len(cells))[:_TRIES]]):
        pose = (round(float(x), 3), round(float(y), 3), 0.0, thing.pose[3])
        there = replace(thing, pose=pose, supported_by=0)
        moved = replace(without, objects=(*without.objects, there))
        if len(truth_of(moved).views(there, _SHARE, _NEAR)):
            yield there


def _best_view(world: World, thing: WorldObject) -> tuple[float, float, float]:
    """Return the pose near the object that shows the largest share of it."""
    truth = truth_of(world)
    views = truth.views(thing, _SHARE, _NEAR)
    x, y, yaw = views[int(np.argmax(truth.seen(thing, views)))]
    return float(x), float(y), float(yaw)


def _start(
    before: World, after: World, thing: WorldObject, there: WorldObject, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Return a start pose far from both places of the object, with neither in view; None if there is none."""
    truth = truth_of(before)
    roomy = np.argwhere(
        np.isfinite(truth.lengths(before.start[:2])) & (truth.clearance >= 0.5) & ~truth.covered
    )
    for x, y in truth.grid.points_of(roomy[rng.permutation(len(roomy))[:_TRIES]]):
        place = float(x), float(y)
        poses = np.column_stack([np.tile(place, (8, 1)), np.arange(8) * math.pi / 4])
        if all(
            MIN_PATH <= truth_of(world).shortest_path(place, one) <= MAX_PATH
            and not (truth_of(world).seen(one, poses) > 0.0).any()
            for world, one in ((before, thing), (after, there))
        ):
            yaw = float(rng.integers(8)) * math.pi / 4 - math.pi
            return round(place[0], 3), round(place[1], 3), round(yaw, 6)
    return None


def former_session(
    scenario: Scenario, saved: SavedMap, seed: int, settings: EpisodeSettings, phrases: PhraseBook
) -> ListedMemories:
    """Return the memories of a session that looked at the object from `scenario.view`.

    The session begins with the saved map and does not save its own.
    """
    keeper = ListedMemories()
    simulator = Simulator(scenario.before, settings.simulator, seed + 1, start=scenario.view)
    robot = SimulatedRobot(simulator, settings, phrases, np.random.default_rng((seed, 5)), memory=keeper)
    robot.headless.map.go_on_from(saved, simulator.time)
    due = 0.0
    while simulator.time < LOOK:
        simulator.step(settings.control_interval)
        robot.headless.take_pose(robot.pose, simulator.time)
        if simulator.time + 1e-9 >= due:
            due += settings.frame_interval
            robot.look()
        robot.headless.tick(simulator.time)
    assert robot.headless.memory is not None
    robot.headless.memory.close()
    return keeper


def recognised(scenario: Scenario, keeper: ListedMemories) -> bool:
    """Return whether a memory contains an object of the target's category at the target's place."""
    target = scenario.before.object(scenario.target_id)
    return any(
        thing.label == target.category and math.dist(thing.centre[:2], target.xy) <= SAME_PLACE
        for memory in keeper.memories
        for thing in memory.primitives
    )


def searches(spec: str, seed: int, settings: EpisodeSettings) -> list[EpisodeOutcome]:
    """Run the four searches of a building: object still there or carried away, with memory and without.

    The outcomes have the object's fate (STILL_THERE or CARRIED_AWAY) as setting, and "memory" or "no_memory" as policy.

    The robot mapped the building without the object, and loads that map in each session. Returns [] if
    nothing can be carried elsewhere, or if the former session did not recognise the object.
    """
    phrases = phrase_book()
    try:
        scenario = scenario_of(spec, seed)
    except WorldError:
        return []
    saved = explored(scenario.without, seed, settings, phrases)
    keeper = former_session(scenario, saved, seed, settings, phrases)
    if not recognised(scenario, keeper):
        return []
    runner, found = EpisodeRunner(phrases, settings), []
    for case in (STILL_THERE, CARRIED_AWAY):
        for remembers in (True, False):
            run = search(scenario, case, saved, seed, runner, keeper.copy() if remembers else None)
            policy = "memory" if remembers else "no_memory"
            found.append(run.outcome.under(case, policy, spec))
    return found


def search(
    scenario: Scenario,
    case: str,
    saved: SavedMap,
    seed: int,
    runner: EpisodeRunner,
    memory: ListedMemories | None,
) -> EpisodeRun:
    """Run one search on the saved map. memory: the search uses it and adds to it; None = no memory."""
    world = scenario.before if case == STILL_THERE else scenario.after
    task = Task(scenario.words, (scenario.target_id,), scenario.start)
    return runner.run(world, task, seed, saved, memory)
