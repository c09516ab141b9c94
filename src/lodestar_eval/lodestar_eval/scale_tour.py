"""Tour of a stocked building by the complete robot, with the cost of each frame, query, decision and save."""

from __future__ import annotations

import gc
import math
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from lodestar.agent.errands.commands import EmbedPhrases, Finish, RequestProposals, SendGoal
from lodestar.assembly import parts
from lodestar.assembly.local_map import LocalMap
from lodestar.experts.protocol import Thinking
from lodestar.language.grammar import parse_query
from lodestar.memory.store import MemoryStore
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import PoolCache, score_pool
from lodestar.scene.records import EntityState
from lodestar.storage.saved_map import load_map, save_map
from lodestar.storage.snapshot import SnapshotFolder
from lodestar_eval.memory import peak_bytes, reset_peak, resident_bytes
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_eval.stages import StageClock
from lodestar_eval.stocked_building import BuildingSize, Waypoint, stocked_building, tour_of
from lodestar_eval.tour import NARROW
from lodestar_sim.simulator import SimConfig, Simulator

_CONTROL = 0.1  # s, control interval as in an episode
_SPEED, _SPIN = 0.5, 0.9  # m/s, rad/s: the robot spins as it drives; chosen
_NEAR = 0.12  # m, distance at which a waypoint counts as reached; chosen
_STUCK = 60.0  # s in addition to a straight drive, within which a waypoint must be reached; chosen
_QUERY_EVERY = 10  # frames between two queries, so that each query meets a changed scene
_MATCH = 0.15  # m, greatest distance of the centres of an entity and its object, of one category
_TICKS = 60  # most ticks of the loop until a decision
_LATER = 1e9  # s, clock of the session that loads a saved map
#: Stages that simulate sensors and the detector.
OUTSIDE = frozenset({"render", "ranges", "detect"})
#: Stages of the extraction cycle: surfaces and carving, votes and instances, entities.
CYCLE = frozenset({"geometry", "fuse", "scene"})


MARKS = (0.10, 0.25, 0.50, 1.00)  # shares of the tour, or of the building; issue 37


@dataclass(frozen=True)
class ScaleSettings:
    """Settings of a tour of a large building. size: of the building. interval: simulated seconds between
    images. width, height: pixels of the images. marks: shares of the tour at which the state is measured.
    """

    size: BuildingSize = field(default_factory=BuildingSize)
    seed: int = 1
    interval: float = 0.5
    width: int = 320
    height: int = 240
    marks: tuple[float, ...] = MARKS
    noise: str = "mild"
    decisions: int = 5  # number of decisions at each mark


@dataclass(frozen=True)
class FrameCost:
    """Cost of one image. share: part of the tour done; stages: processor seconds; seconds: wall time."""

    share: float
    stages: dict[str, float]
    seconds: float

    @property
    def robot(self) -> float:
        """Return the robot's processor seconds, without rendering, simulated ranges and detection."""
        return sum(value for name, value in self.stages.items() if name not in OUTSIDE)

    @property
    def cycle(self) -> float:
        """Return the processor seconds of the stages "geometry", "fuse" and "scene"."""
        return sum(value for name, value in self.stages.items() if name in CYCLE)


@dataclass(frozen=True)
class QueryCost:
    """Cost of one query, in wall and in processor seconds. share: part of the tour done."""

    share: float
    seconds: float
    busy: float


@dataclass(frozen=True)
class Mark:
    """Size of the map and its costs after a share of the tour; seconds and bytes.

    peak: most memory since the mark before, with the images that the simulator renders.
    """

    share: float
    rooms: int
    area: float
    frames: int
    instances: int
    entities: int
    voxels: int
    bytes: int
    peak: int
    layers: float
    decisions: tuple[float, ...]
    save: float
    load: float
    file_bytes: int
    loaded: bool


@dataclass
class TourRecord:
    """Measurements of one tour."""

    frames: list[FrameCost] = field(default_factory=list)
    queries: list[QueryCost] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    objects: int = 0
    matched: int = 0
    entities: int = 0
    confirmed: int = 0
    unknown_to_scene: int = 0
    refused: int = 0
    blocks_refused: int = 0
    rejected: int = 0
    overflow: int = 0
    collisions: int = 0
    seconds: float = 0.0
    path: float = 0.0


class ScaleTour:
    """Robot on its tour. folder: for its memory and the maps saved on the way."""

    def __init__(self, settings: ScaleSettings, phrases: PhraseBook, folder: Path) -> None:
        self.settings, self._phrases, self._folder = settings, phrases, folder
        self.world = stocked_building(settings.size, settings.seed)
        self.simulator = Simulator(self.world, SimConfig(robot=NARROW), settings.seed)
        self._clock = StageClock()
        robot = robot_config(NOISES[settings.noise])
        store = replace(robot.memory.store, folder=str(folder / "memory"))
        self._store = MemoryStore.open(store, lambda words: phrases.vectors(tuple(words)))
        episode = EpisodeSettings(robot=robot, width=settings.width, height=settings.height)
        rng = np.random.default_rng([settings.seed, 7])
        gc.collect()
        reset_peak()
        self._before = resident_bytes()
        self.robot = SimulatedRobot(self.simulator, episode, phrases, rng, self._clock, memory=self._store)
        self.way = tour_of(settings.size)
        self._pools = PoolCache()
        self._asking = np.random.default_rng([settings.seed, 11])
        self.record = TourRecord(objects=len(self.world.objects))

    @property
    def map(self) -> LocalMap:
        """Return the robot's map."""
        return self.robot.headless.map

    def run(self, rooms: int | None = None) -> TourRecord:
        """Drive the tour, or its first `rooms` rooms, and measure."""
        if rooms is not None:
            self.way = [one for one in self.way if one.rooms < rooms]
        began, record, ahead = time.perf_counter(), self.record, list(self.settings.marks)
        due = 0.0
        for waypoint, share in self._drive():
            while ahead and share >= ahead[0] - 1e-9:
                record.marks.append(self._mark(ahead.pop(0), waypoint.rooms))
            if self.simulator.time + 1e-9 >= due:
                due += self.settings.interval
                self._frame(share)
        self._finish()
        record.seconds = time.perf_counter() - began
        return record

    # --- driving --------------------------------------------------------------------------------------------

    def _drive(self) -> Iterator[tuple[Waypoint, float]]:
        """Follow the path while spinning; yield the waypoint ahead and the share of the path after every step.

        Raises RuntimeError if the robot is stuck, because further measurements would not be of the tour.
        """
        places = np.array([[one.x, one.y] for one in self.way])
        legs = np.linalg.norm(np.diff(places, axis=0, prepend=places[:1]), axis=1)
        total, done = float(legs.sum()), 0.0
        headless = self.robot.headless
        for waypoint, place, leg in zip(self.way, places, legs):
            until = self.simulator.time + _STUCK + leg / _SPEED
            while True:
                x, y, yaw = self.simulator.true_pose
                gap = place - (x, y)
                left = float(np.linalg.norm(gap))
                if left < _NEAR:
                    break
                if self.simulator.time > until:
                    raise RuntimeError(
                        f"the robot is held at ({x:.1f}, {y:.1f}), {left:.1f} m from where it goes"
                    )
                speed = gap / left * min(_SPEED, left / _CONTROL)
                c, s = math.cos(yaw), math.sin(yaw)
                self.simulator.set_command(c * speed[0] + s * speed[1], -s * speed[0] + c * speed[1], _SPIN)
                self.simulator.step(_CONTROL)
                self.robot.turn()
                headless.take_pose(self.robot.pose, self.simulator.time)
                headless.tick(self.simulator.time)
                yield waypoint, (done + max(leg - left, 0.0)) / total
            done += float(leg)
        yield self.way[-1], 1.0

    # --- measuring ------------------------------------------------------------------------------------------

    def _frame(self, share: float) -> None:
        before, began = dict(self._clock.seconds), time.perf_counter()
        self.robot.look()
        seconds = time.perf_counter() - began
        spent = {name: value - before.get(name, 0.0) for name, value in self._clock.seconds.items()}
        self.record.frames.append(FrameCost(share, {k: v for k, v in spent.items() if v > 0.0}, seconds))
        if len(self.record.frames) % _QUERY_EVERY == 0:
            self.record.queries.append(self._query(share))

    def _query(self, share: float) -> QueryCost:
        """Return the cost of one relational query with a new phrase on the current scene."""
        things, mirror = self.world.objects, self.map.mirror
        one, other = (things[int(i)] for i in self._asking.integers(len(things), size=2))
        words = f"the wobbly thing{len(self.record.queries)} {one.caption} next to the {other.caption}"
        began, busy = time.perf_counter(), time.thread_time()
        graphs = parse_query(words)
        config = self.robot.settings.robot.shared.query
        pool = self._pools.of(mirror.entities, self._phrases, config, mirror.regions, mirror.rooms)
        score_pool(graphs, pool)
        return QueryCost(share, time.perf_counter() - began, time.thread_time() - busy)

    def _decision(self) -> float:
        """Return the processor seconds from a directive to its first goal, without text embedding."""
        headless, now = self.robot.headless, self.simulator.time
        wanted = self.world.objects[int(self._asking.integers(len(self.world.objects)))]
        headless.start(f"find the {wanted.caption}", now)
        spent = 0.0
        for tick in range(_TICKS):
            now = self.simulator.time + 0.001 * tick
            began = time.thread_time()
            commands = headless.tick(now)
            spent += time.thread_time() - began
            for command in commands:
                if isinstance(command, EmbedPhrases):
                    self._phrases.vectors(command.phrases)
                elif isinstance(command, RequestProposals):
                    began = time.thread_time()
                    for name in command.experts:
                        answer = headless.propose(name, replace(command.request, may_wait=False))
                        if not isinstance(answer, Thinking):
                            headless.loop.on_answer(answer)
                    spent += time.thread_time() - began
            if any(isinstance(command, (SendGoal, Finish)) for command in commands):
                break
        headless.loop.cancel(now)
        headless.tick(now)
        return spent

    def _mark(self, share: float, rooms: int) -> Mark:
        peak = peak_bytes() - self._before
        reset_peak()
        voxels, scene = self.map.voxels.map, self.map.scene.dictionary
        held = resident_bytes() - self._before
        layers = self._layers()
        decisions = tuple(self._decision() for _ in range(self.settings.decisions))
        save, load, size, same = self._saved()
        reset_peak()
        return Mark(
            share, rooms, self.map.grid.free_area, len(self.record.frames), len(voxels.instances()), len(scene),
            voxels.voxel_count, held, peak, layers, decisions, save, load, size, same,
        )  # fmt: skip

    def _layers(self) -> float:
        """Return the processor seconds to update a directive's layers after one more image.

        The layers are per-cell instances ("pillars"), similarity layers and zones; a first update builds them
        and is not measured.
        """
        one, other = self.world.objects[1], self.world.objects[-1]
        directive = parts.directive_parser()(f"find the {one.caption} and keep away from the {other.caption}")
        scene, now, seconds = self.map.scene, self.simulator.time, 0.0
        self.map.follow(directive)
        for _ in range(2):
            self._look_again()
            began = time.thread_time()
            scene.pillars = self.map.voxels.pillars()
            scene.refresh(now)
            seconds = time.thread_time() - began
        self.map.follow(None)
        return seconds

    def _look_again(self) -> None:
        """Process one more image from here, so that the scene changes."""
        self.simulator.step(_CONTROL)
        self.robot.look()

    def _saved(self) -> tuple[float, float, int, bool]:
        """Save the map, load it into another, and compare the two.

        Returns the seconds to save, the seconds to load, the bytes, and whether both maps have equal numbers
        of voxels, instances and entities.
        """
        place = self._folder / "map"
        began = time.perf_counter()
        save_map(SnapshotFolder(place), self._archive_parts(self.map), {})
        save = time.perf_counter() - began
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        other = LocalMap(self.robot.settings.robot, PhraseBook())
        began = time.perf_counter()
        load_map(place, self._archive_parts(other))
        load = time.perf_counter() - began
        other.scene.flush()
        kept, known = other.voxels.map, self.map.voxels.map
        same = (kept.voxel_count, kept.instance_count, len(other.scene.dictionary)) == (
            known.voxel_count, known.instance_count, len(self.map.scene.dictionary),
        )  # fmt: skip
        del other
        gc.collect()
        shutil.rmtree(place)
        return save, load, size, same

    @staticmethod
    def _archive_parts(made: LocalMap) -> tuple:
        later = lambda: _LATER  # noqa: E731
        return made.scene.part(later), made.plan.part(lambda: 0.0), made.voxels.part(later)

    # --- the end --------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        record, chain = self.record, self.map
        chain.tell(*chain.scene.flush())
        voxels, memory = chain.voxels.map, self.robot.headless.memory
        confirmed = {i for i, one in voxels.instances().items() if one.confirmed}
        known = chain.mirror.entities
        alive = [one for one in known.values() if one.state is not EntityState.ARCHIVED]
        record.confirmed, record.entities = len(confirmed), len(alive)
        record.unknown_to_scene = sum(chain.mirror.resolve(i) not in known for i in confirmed)
        record.refused, record.blocks_refused = voxels.voxels_refused, voxels.geometry.blocks.refused
        record.rejected = sum(chain.rejected.values())
        record.overflow = 0 if memory is None else memory.counts["overflow"]
        record.collisions, record.path = self.simulator.collisions, self.simulator.path_length
        record.matched = self._matched(alive)
        if memory is not None:
            memory.close()
        self._store.close()

    def _matched(self, alive: list) -> int:
        """Return the number of objects matched one to one by an entity of their category."""
        found = 0
        by_kind: dict[str, list[np.ndarray]] = {}
        for one in alive:
            by_kind.setdefault(one.label, []).append((one.box_min + one.box_max) / 2.0)
        middles: dict[str, list[np.ndarray]] = {}
        for thing in self.world.objects:
            low, high = self.world.box(thing)
            middles.setdefault(thing.category, []).append((low + high) / 2.0)
        for kind, places in middles.items():
            if kind not in by_kind:
                continue
            reach = _MATCH if kind != "shelf" else 0.5
            gaps, nearest = cKDTree(np.array(places)).query(np.array(by_kind[kind]))
            found += len(np.unique(nearest[gaps <= reach]))
        return found
