"""Tours of a building in which objects move, vanish and appear out of view, with scores of the beliefs about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.models.kinship import same_kind
from lodestar.models.phrases import PhraseBook
from lodestar.scene.moved_things import MOST_COMPARED
from lodestar.scene.records import Entity, EntityState
from lodestar.scene.session_changes import ChangeKind, ThingChange
from lodestar_eval.last_seen import elsewhere
from lodestar_eval.perceived_maps import stations
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_eval.state_questions import SpatialQuestion, answer, questions_of
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import Event, World, WorldObject

LENGTH = 1200.0  # simulated seconds of a tour
ROUNDS = 4  # visits to every station; the first round makes the map
TURNS = 8  # directions in which the robot looks at a station
CHANGED = 0.2  # share of the movable objects that change
MOVE, VANISH, APPEAR = "moved", "vanished", "appeared"
FATES = (MOVE, MOVE, VANISH, APPEAR)  # kinds of change, assigned in turn
ROWS = ("lodestar", "dictionary", "last_seen")
_SEEN, _NEAR = 0.2, 0.8  # least share of an object's points in view; greatest distance, m; as in `tasks`
_SAME_PLACE = 0.5  # m, least radius within which a belief is at its object; half the extent for large ones
_ROOM = 0.3  # share of the tour at its end without events


@dataclass(frozen=True)
class Fate:
    """Change of an object while out of view. before, after: its state before and after, None = absent."""

    kind: str
    time: float
    before: WorldObject | None
    after: WorldObject | None


@dataclass(frozen=True)
class Scenario:
    """A tour with repeated visits to S stations. visits: camera poses (S, TURNS, 3) in the order of the
    visits; interval: seconds from one visit to the next. fates: the changes.
    """

    world: World
    visits: np.ndarray
    interval: float
    fates: tuple[Fate, ...]

    def ends(self, visit: int) -> float:
        """Return the time at which a visit ends, seconds."""
        return (visit + 0.7) * self.interval


@dataclass
class Track:
    """Scores of one method on a tour.

    right: share of the out-of-view objects with a right belief, per visit. delays: seconds until the beliefs
    settle on a change, per change. told, told_right: reported changes, and the true ones among them. found:
    true changes that were reported. answers: spatial questions, each with whether the answer was right.
    """

    right: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    told: int = 0
    told_right: int = 0
    found: int = 0
    answers: list[tuple[SpatialQuestion, bool]] = field(default_factory=list)


@dataclass(frozen=True)
class TourOutcome:
    """Scores of one tour, by method in `tracks`. fates: number of changes."""

    world: str
    seed: int
    fates: int
    tracks: dict[str, Track]


def scenario_of(spec: str, seed: int) -> Scenario:
    """Return the tour of a seed. Raises WorldError if too few objects can change."""
    rng = np.random.default_rng((seed, 0x57A))
    world = world_from_spec(spec, seed)
    places = stations(world)
    angles = 2.0 * np.pi * np.arange(TURNS) / TURNS
    once = np.stack([np.column_stack([np.tile(place, (TURNS, 1)), angles]) for place in places])
    visits = np.tile(once, (ROUNDS, 1, 1))
    interval = LENGTH / len(visits)
    movable = [
        t
        for t in world.objects
        if t.movable and not t.contained_in and len(truth_of(world).views(t, _SEEN, _NEAR))
    ]
    carried = {t.supported_by for t in world.objects}
    movable = [t for t in movable if t.id not in carried]
    wanted = max(round(CHANGED * len(movable)), 1)
    fates: list[Fate] = []
    for index in rng.permutation(len(movable)):
        if len(fates) == wanted:
            break
        fate = _fate(world, movable[index], FATES[len(fates) % len(FATES)], visits, interval, rng)
        if fate is not None:
            fates.append(fate)
    if len(fates) < 2:
        raise WorldError(
            f"{spec}, seed {seed}: fewer than two things can change out of view; take another seed"
        )
    return Scenario(_with_events(world, fates), visits, interval, tuple(fates))


def _fate(
    world: World, thing: WorldObject, kind: str, visits: np.ndarray, interval: float, rng: np.random.Generator
) -> Fate | None:
    """Return a change of the object at a time when neither of its places is in view; None without such a time."""
    without = replace(world, objects=tuple(t for t in world.objects if t.id != thing.id))
    after = next(elsewhere(world, without, thing, rng), None) if kind == MOVE else None
    if kind == MOVE and after is None:
        return None
    first, last = len(visits) // ROUNDS, int(len(visits) * (1.0 - _ROOM))
    scenes = [(truth_of(world), thing)]
    if after is not None:
        scenes.append((truth_of(replace(without, objects=(*without.objects, after))), after))
    for visit in rng.permutation(np.arange(first, last))[:12].tolist():
        if all((truth.seen(one, visits[visit]) <= 0.0).all() for truth, one in scenes):
            time = (visit + 0.85) * interval
            return Fate(kind, time, None if kind == APPEAR else thing, thing if kind == APPEAR else after)
    return None


def _with_events(world: World, fates: Sequence[Fate]) -> World:
    events, late = [], {f.after.id for f in fates if f.kind == APPEAR and f.after is not None}
    for fate in fates:
        if fate.kind == MOVE and fate.after is not None:
            events.append(Event(fate.time, "move", fate.after.id, fate.after.pose))
        elif fate.kind == VANISH and fate.before is not None:
            events.append(Event(fate.time, "remove", fate.before.id))
        elif fate.after is not None:
            events.append(Event(fate.time, "add", fate.after.id, object=fate.after))
    objects = tuple(t for t in world.objects if t.id not in late)
    return replace(world, objects=objects, events=tuple(sorted(events, key=lambda e: e.time)))


@dataclass(frozen=True)
class _Moment:
    """Map after a visit. changes: reported against the first round of visits; None in that round."""

    visit: int
    entities: dict[int, Entity]
    changes: list[ThingChange] | None

    @property
    def held(self) -> list[Entity]:
        """Return the entities believed to be at their mapped place."""
        return [e for e in self.entities.values() if e.state is not EntityState.ARCHIVED]


def _drive(
    scenario: Scenario, seed: int, phrases: PhraseBook, settings: EpisodeSettings
) -> Iterator[_Moment]:
    """Yield the map after each visit; the robot looks around on the spot, and is placed at the next station.

    After the first round the map is saved and loaded, as on the next day.
    """
    simulator = Simulator(scenario.world, settings.simulator, seed)
    robot = SimulatedRobot(simulator, settings, phrases, np.random.default_rng((seed, 7)))
    chain = robot.headless.map
    pause = 0.7 * scenario.interval / TURNS
    first = len(scenario.visits) // ROUNDS
    for visit, poses in enumerate(scenario.visits):
        if visit == first:
            chain.go_on_from(chain.saved(), simulator.time)
        for pose in poses:
            simulator.robot.pose, simulator.robot.odometry = np.array(pose), np.array(pose)
            simulator.step(pause)
            robot.look()
        simulator.step(max(scenario.interval * (visit + 1) - simulator.time, 0.01))
        chain.work(simulator.time)
        changes = chain.scene.dictionary.changes_since_load(MOST_COMPARED) if visit >= first else None
        yield _Moment(visit, dict(chain.mirror.entities), changes)


def track(spec: str, seed: int, settings: EpisodeSettings, phrases: PhraseBook) -> TourOutcome:
    """Return the scores of a tour. Raises WorldError."""
    scenario = scenario_of(spec, seed)
    tracks = {row: Track() for row in ROWS}
    watched: set[int] = set()  # ids of the objects whose place is known after the first round
    seen_at = {id(fate): np.nan for fate in scenario.fates}
    settled = {row: {id(fate): np.nan for fate in scenario.fates} for row in ROWS}
    ever: dict[int, Entity] = {}
    first = len(scenario.visits) // ROUNDS
    last: _Moment | None = None
    start = scenario.world.at(0.0)
    tours = (
        _drive(scenario, seed, phrases, settings),
        _drive(scenario, seed, phrases, _without_comparison(settings)),
    )
    for moment, plain in zip(*tours):
        ever.update({entity.id: entity for entity in plain.held})
        time = scenario.ends(moment.visit)
        world = scenario.world.at(time)
        if moment.visit + 1 == first:
            watched = set(_matched(list(moment.entities.values()), world.objects, world).values())
        if moment.changes is None:
            continue
        last = moment
        in_view = _in_view(scenario, moment.visit, world)
        for fate in scenario.fates:
            if (
                fate.time < time
                and np.isnan(seen_at[id(fate)])
                and _shows(scenario, fate, moment.visit, world)
            ):
                seen_at[id(fate)] = time
        asked = questions_of(start, world, seed) if (moment.visit + 1) % first == 0 else []
        beliefs = {"lodestar": moment.held, "dictionary": plain.held, "last_seen": list(ever.values())}
        for row, held in beliefs.items():
            right = _judged(held, world, scenario.fates, time, watched)
            unseen = [ok for thing, ok in right.items() if thing not in in_view]
            if unseen:
                tracks[row].right.append(float(np.mean(unseen)))
            tracks[row].answers += [(one, _is_answered(one, held, world, phrases)) for one in asked]
            for fate in scenario.fates:
                thing = fate.after or fate.before
                assert thing is not None
                if fate.time < time and right.get(thing.id) and np.isnan(settled[row][id(fate)]):
                    settled[row][id(fate)] = time
    assert last is not None and last.changes is not None
    for row in ROWS:
        delays = [settled[row][key] - seen_at[key] for key in seen_at]
        tracks[row].delays = [max(d, 0.0) for d in delays if np.isfinite(d)]
    _count_reports(tracks["lodestar"], last.changes, scenario)
    return TourOutcome(spec, seed, len(scenario.fates), tracks)


def _without_comparison(settings: EpisodeSettings) -> EpisodeSettings:
    """Return the settings of a robot that archives entities by depth alone, without comparison of visits."""
    knowing = replace(settings.robot.scene_dictionary, archive_moved=False)
    return replace(settings, robot=replace(settings.robot, scene_dictionary=knowing))


def _in_view(scenario: Scenario, visit: int, world: World) -> set[int]:
    """Return the ids of the objects in view during a visit."""
    truth, poses = truth_of(world), scenario.visits[visit]
    near = [t for t in world.objects if np.linalg.norm(np.subtract(t.xy, poses[0, :2])) < 8.0]
    return {thing.id for thing in near if (truth.seen(thing, poses) > 0.0).any()}


def _shows(scenario: Scenario, fate: Fate, visit: int, world: World) -> bool:
    """Return whether a visit shows the object's old place or its new one."""
    poses = scenario.visits[visit]
    if fate.after is not None and (truth_of(world).seen(fate.after, poses) >= _SEEN).any():
        return True
    if fate.before is None:
        return False
    objects = (*(t for t in world.objects if t.id != fate.before.id), fate.before)
    return bool((truth_of(replace(world, objects=objects)).seen(fate.before, poses) >= _SEEN).any())


def _judged(
    held: Sequence[Entity], world: World, fates: Sequence[Fate], time: float, watched: set[int]
) -> dict[int, bool]:
    """Return by object id whether a belief of its kind is at its place, and none at its old place.

    Objects that were never mapped are left out, unless they changed.
    """
    matched = _matched(held, world.objects, world)
    found = set(matched.values())
    ghosts = [entity for entity in held if entity.id not in matched]
    over = {(f.after or f.before).id: f for f in fates if f.time < time}  # type: ignore[union-attr]
    right = {t.id: t.id in found for t in world.objects if t.id in watched or t.id in over}
    for identity, fate in over.items():
        gone = fate.before is not None and any(_at(ghost, fate.before, world) for ghost in ghosts)
        right[identity] = right.get(identity, True) and not gone
    return right


def _is_answered(
    question: SpatialQuestion, held: Sequence[Entity], world: World, phrases: PhraseBook
) -> bool:
    """Return whether the answer is right: an entity at a target's place, or none if there is no target."""
    shown = answer(question, held, phrases)
    if shown is None or not question.targets:
        return shown is None and not question.targets
    return any(_at(shown, world.object(identity), world) for identity in question.targets)


def _matched(held: Sequence[Entity], things: Sequence[WorldObject], world: World) -> dict[int, int]:
    """Return entity id -> object id for beliefs at objects of their kind, matched one to one by distance."""
    if not held or not things:
        return {}
    cost = np.full((len(held), len(things)), 1e3)
    centres = np.array([_centre(*world.box(t)) for t in things])
    for i, entity in enumerate(held):
        gaps = np.linalg.norm(centres - _centre(entity.box_min, entity.box_max), axis=1)
        for j in np.flatnonzero(gaps < 3.0).tolist():
            if gaps[j] <= _reach(things[j]) and same_kind(entity.label, things[j].category):
                cost[i, j] = gaps[j]
    rows, columns = linear_sum_assignment(cost)
    return {held[i].id: things[j].id for i, j in zip(rows, columns) if cost[i, j] < 1e3}


def _at(entity: Entity, thing: WorldObject, world: World) -> bool:
    gap = np.linalg.norm(_centre(entity.box_min, entity.box_max) - _centre(*world.box(thing)))
    return bool(gap <= _reach(thing)) and same_kind(entity.label, thing.category)


def _reach(thing: WorldObject) -> float:
    return max(_SAME_PLACE, 0.5 * max(thing.size))


def _centre(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (np.asarray(low, float) + np.asarray(high, float)) / 2.0


def _count_reports(tally: Track, changes: Sequence[ThingChange], scenario: Scenario) -> None:
    """Add the number of reported changes, and of the true ones among them, to the method's scores."""
    kinds: Mapping[str, ChangeKind] = {
        MOVE: ChangeKind.MOVED, VANISH: ChangeKind.VANISHED, APPEAR: ChangeKind.APPEARED,
    }  # fmt: skip
    told = [c for c in changes if c.kind in kinds.values()]
    open_fates = list(scenario.fates)
    world = scenario.world.at(0.0)
    for change in told:
        for fate in open_fates:
            if kinds[fate.kind] is change.kind and _tells(change, fate, world):
                open_fates.remove(fate)
                tally.told_right += 1
                break
    tally.told += len(told)
    tally.found += len(scenario.fates) - len(open_fates)


def _tells(change: ThingChange, fate: Fate, world: World) -> bool:
    for sight, thing in ((change.before, fate.before), (change.after, fate.after)):
        if thing is None:
            continue
        if sight is None or not same_kind(sight.label, thing.category):
            return False
        if float(np.linalg.norm(sight.mean - _centre(*world.box(thing)))) > _reach(thing):
            return False
    return True
