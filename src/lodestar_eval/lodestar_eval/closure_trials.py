"""Tours of buildings with a ring of corridors, with drifting odometry and SLAM loop closures. Each tour is
mapped in parallel under five treatments of the drift (`ROWS`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.assembly import parts
from lodestar.assembly.local_map import LocalMap
from lodestar.assembly.range_turns import LidarTurn
from lodestar.geometry.closure_config import ClosureConfig, closures_as
from lodestar.geometry.pose_graph import PoseGraphFeed
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.models.kinship import same_kind
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.records import EntityState
from lodestar_eval.instance_metrics import f1
from lodestar_eval.instance_truth import SeenParts
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.tour import NARROW, Tour, TourConfig
from lodestar_sim.robot import GO2_DRIFT, LocalizationConfig
from lodestar_sim.simulator import SimConfig
from lodestar_sim.slam import SlamConfig
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World

# jump: submaps moved by the jumps of map <- odom alone; submaps: also by SLAM's graph, as SLAM Toolbox publishes it
EXACT, NONE, RIGID, JUMP, SUBMAPS = "exact", "none", "rigid", "jump", "submaps"
ROWS = (EXACT, NONE, RIGID, JUMP, SUBMAPS)
_MATCH = 0.5  # metres, greatest distance between the centres of an entity and its object; issue 37
_CELL = 0.1  # metres, greatest distance between occupied cells that count as equal; issue 37
_INSET = 1.2  # metres between the path round a hall and its walls; chosen
_BEYOND = 0.3  # share of a second round that is driven, to use the map after the closures; chosen
_ROOMS = 4  # number of rooms visited on the way; chosen


@dataclass
class ClosureTrial:
    """Result of the tour of one building. Each row is one of the five maps named in `ROWS`.

    entities, cells: F1 by row. closures: number of SLAM's loop closures. jumps: metres, jumps of map <- odom
    above 0.1 m. error: mean distance, metres, of SLAM's graph nodes from the truth at the end; no map that
    follows the graph is more exact. longest: wall seconds of the slowest frame, by row. maps: by row.
    """

    world: World
    entities: dict[str, float] = field(default_factory=dict)
    cells: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    objects: int = 0
    closures: int = 0
    error: float = 0.0
    jumps: list[float] = field(default_factory=list)
    way: float = 0.0
    longest: dict[str, float] = field(default_factory=dict)
    maps: dict[str, LocalMap] = field(default_factory=dict)


def closure_trial(
    world: World,
    seed: int,
    phrases: PhraseBook,
    settings: EpisodeSettings,
    rows: Sequence[str] = ROWS,
    stages: Callable[[str], None] = lambda text: None,
    matches: bool = True,
) -> ClosureTrial:
    """Drive one tour and return its result, with a map per row.

    All maps are built from the same images and scans; each row has its own poses.

    matches: see `SlamConfig`.
    """
    localization = LocalizationConfig(slam=SlamConfig(enabled=True, matches=matches))
    tour_config = TourConfig(
        speed=0.7, frame_interval=0.5, limit=900.0, pan=2.0, most_stops=99,
        simulator=SimConfig(robot=NARROW, odometry=GO2_DRIFT, localization=localization),
    )  # fmt: skip
    tour = Tour(world, seed, tour_config, ring_stops(world, np.random.default_rng((seed, 37))))
    simulator, slam = tour.simulator, tour.simulator.robot.slam
    assert slam is not None
    trial = ClosureTrial(world)
    graphs = PoseGraphFeed()
    for row in rows:
        with closures_as(ClosureConfig(enabled=row != RIGID), graphs if row == SUBMAPS else None):
            trial.maps[row] = LocalMap(settings.robot, phrases)
        trial.longest[row] = 0.0
    detector = parts.ground_truth_detector(settings.robot.perception, np.random.default_rng((seed, 1)))
    seen = SeenParts(max(world.labels(), default=0))
    lidar = planar_transform(0.0, 0.0, 0.0, simulator.config.sensors.lidar.z)
    base_from_optical = simulator.config.sensors.camera.base_from_optical
    first, last = simulator.map_from_odom, simulator.map_from_odom
    for moment in tour.moments():
        frame = tour.look(moment)
        image = frame.image
        seen.add(frame)
        points = simulator.lidar()
        drifted = simulator.odom_from_base
        true = planar_transform(*simulator.true_pose)
        before, now = last @ drifted, image.map_from_odom @ drifted
        gap = float(np.linalg.norm(before[:2, 3] - now[:2, 3]))
        if gap > _CELL:
            trial.jumps.append(gap)
        last = image.map_from_odom
        graph = slam.graph(image.stamp)
        if graph is not None:
            graphs.take(graph)
        segmented = None
        for row in rows:
            base, map_from_odom = (true, np.eye(4)) if row == EXACT else (drifted, last)
            if row == NONE:
                map_from_odom = first
            view = RgbdFrame(
                image.stamp, image.camera, image.depth, base @ base_from_optical, map_from_odom, image.rgb
            )
            if segmented is None:
                segmented = detector.segment(image.stamp, image.labels, image.label_table, view)
            local, began = trial.maps[row], time.perf_counter()
            if local.wants_turn(image.stamp, map_from_odom @ base @ lidar):
                local.take_turn(LidarTurn(image.stamp, points, base @ lidar, map_from_odom, base))
            local.take_movers(view, segmented)
            local.take_depth(view, base)
            local.take_segments(view, segmented)
            local.work(image.stamp)
            trial.longest[row] = max(trial.longest[row], time.perf_counter() - began)
    trial.closures, trial.error, trial.way = slam.closures, slam.error, simulator.path_length
    _score(trial, seen)
    return trial


def ring_stops(world: World, rng: np.random.Generator) -> np.ndarray:
    """Return stops (N, 2) round the corridors of an office or the hall of a warehouse, and in some rooms."""
    rooms = {room.id: np.array(room.polygon) for room in world.rooms}
    halls = [rooms[r.id] for r in world.rooms if r.label in ("corridor", "warehouse")]
    low, high = np.min([h.min(axis=0) for h in halls], axis=0), np.max([h.max(axis=0) for h in halls], axis=0)
    low, high = low + _INSET, high - _INSET
    corners = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    ring = np.concatenate([np.linspace(a, b, 3)[:2] for a, b in zip(corners, np.roll(corners, -1, axis=0))])
    start = int(np.argmin(np.linalg.norm(ring - np.array(world.start[:2]), axis=1)))
    ring = np.roll(ring, -start, axis=0)
    if rng.random() < 0.5:
        ring = np.concatenate([ring[:1], ring[:0:-1]])
    visits: dict[int, np.ndarray] = {}
    others = [room for room in world.rooms if room.label not in ("corridor", "warehouse")]
    for k in rng.permutation(len(others))[:_ROOMS].tolist():
        middle = (rooms[others[k].id].min(axis=0) + rooms[others[k].id].max(axis=0)) / 2.0
        visits[int(np.argmin(np.linalg.norm(ring - middle, axis=1)))] = middle
    more = max(2, round(_BEYOND * len(ring)))
    found = [place for k, stop in enumerate(ring) for place in (stop, *([visits[k]] if k in visits else []))]
    return _reachable(world, np.array([*found, *ring[:more]]))


def _reachable(world: World, stops: np.ndarray) -> np.ndarray:
    """Return each stop moved to the nearest open floor."""
    truth = truth_of(world)
    open_floor = np.isfinite(truth.lengths(world.start[:2])) & (truth.clearance >= 0.45)
    places = truth.grid.points_of(np.argwhere(open_floor))
    return np.array([places[np.argmin(np.linalg.norm(places - stop, axis=1))] for stop in stops])


def _score(trial: ClosureTrial, seen: SeenParts) -> None:
    truth, labels = seen.result(), trial.world.labels()
    trial.objects = len(truth.ids)
    middles = (truth.low + truth.high) / 2.0
    named = [labels[int(i)]["class"] for i in truth.ids]
    known = set(truth.ids.tolist())
    spare = [thing for thing in trial.world.objects if thing.id not in known]
    apart = [(labels[thing.id]["class"], np.array(thing.pose[:2])) for thing in spare if thing.id in labels]
    for row, local in trial.maps.items():
        entities = [e for e in local.mirror.entities.values() if e.state is not EntityState.ARCHIVED]
        places = np.array([(e.box_min + e.box_max) / 2.0 for e in entities]).reshape(-1, 3)
        gaps = np.linalg.norm(places[:, None] - middles[None], axis=2)
        alike = np.array([[same_kind(e.label, name) for name in named] for e in entities]).reshape(gaps.shape)
        fits = (gaps <= _MATCH) & alike
        pairs = [
            (r, c) for r, c in zip(*linear_sum_assignment(np.where(fits, gaps - 1.0, 0.0))) if fits[r, c]
        ]
        found = {int(r) for r, _ in pairs}
        # Entities of objects that were seen too little to count are neither right nor wrong.
        extra = [
            k for k, e in enumerate(entities)
            if k not in found and not any(
                same_kind(e.label, name) and np.linalg.norm(places[k, :2] - at) <= 2.0 * _MATCH for name, at in apart
            )
        ]  # fmt: skip
        trial.entities[row] = f1(len(pairs), len(extra), len(named) - len(pairs))
        trial.counts[row] = len(entities)
    if EXACT in trial.maps:
        reference = _occupied(trial.maps[EXACT].plan.grid)
        for row, local in trial.maps.items():
            trial.cells[row] = _agreement(_occupied(local.plan.grid), reference)


def _occupied(grid: OccupancyGrid2D) -> np.ndarray:
    """Return the centres of the occupied cells, (N, 2) metres."""
    return np.asarray(grid.points_of(np.argwhere(grid.cells >= grid.occupied_from)))


def _agreement(cells: np.ndarray, reference: np.ndarray) -> float:
    """Return the F1 of cells (N, 2) with those of a reference within 0.1 m."""
    from scipy.spatial import cKDTree

    if not len(cells) or not len(reference):
        return 0.0
    near = _CELL + 1e-6
    right = float((cKDTree(reference).query(cells)[0] <= near).mean())
    known = float((cKDTree(cells).query(reference)[0] <= near).mean())
    return 2.0 * right * known / max(right + known, 1e-9)
