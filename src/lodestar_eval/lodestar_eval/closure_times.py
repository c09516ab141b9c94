"""Seconds of one loop closure on a large map, and the longest gap between heartbeats meanwhile."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.mapping.closure_rehearsal import rehearse_plan, rehearse_voxels
from lodestar.mapping.config import VOXEL_CAPTIONS, VOXEL_CONFIRM, VOXEL_LABEL_VOTES, VOXEL_SIZE, VOXEL_VOTE
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta, Observation
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.scene.mirror import SceneMirror
from lodestar_eval.settings import robot_config
from lodestar_sim.sensors import CameraConfig

Steps = Mapping[str, Callable[[], object]]

SIDE = 32.0  # metres of the square floor: 1,024 m2; issue 37
ENTITIES = 3000  # entities on the map; issue 37
_AISLE = 4.0  # metres between parallel passes of the robot; chosen
_BEAT = 0.02  # seconds between heartbeats; chosen, a fifth of the bound


def large_closure(
    side: float = SIDE, entities: int = ENTITIES, config: RobotConfig | None = None
) -> dict[str, float]:
    """Fill the map of a square floor along a path, close the loop at its end, and return the times in seconds.

    octree, plan (floor plan), voxels, surfaces, scene: time to correct each part of the map. seconds: total
    with workers in parallel as in the nodes: octree and plan in `mapping`, voxels beside surfaces in
    `semantic_voxels`, and the scene. cpu: processor time of all workers; cpu_slowest: of the slowest. gap:
    longest time between heartbeats of another thread. moved: metres of the largest correction of the path.
    """
    config, rng = config or robot_config(), np.random.default_rng(37)
    rehearse_plan(config.mapping.octomap)  # as the nodes do at start-up
    rehearse_voxels(config.semantic_voxels.voxels.geometry)
    plan, voxels = (
        parts.plan_mapper(config.mapping),
        parts.voxel_map(config.semantic_voxels, config.shared, "large"),
    )
    scene, mirror = parts.scene_dictionary(config.scene_dictionary), SceneMirror()
    assert isinstance(plan, OctoMapper)
    way = _way(side)
    places = np.column_stack([rng.uniform(0.5, side - 0.5, (entities, 2)), rng.uniform(0.1, 1.5, entities)])
    nearest = np.argmin(np.linalg.norm(places[:, None, :2] - way[None, :, :2], axis=2), axis=1)
    camera = CameraConfig().pinhole(64, 48)
    near, far = np.full((48, 64), 0.4, np.float32), np.full((48, 64), 2.5, np.float32)
    surfaces = TsdfVolume(config.semantic_voxels.voxels.geometry)
    turn = _turn(rng)
    instances: dict[int, Instance] = {}
    for stamp, (x, y, yaw) in enumerate(way):
        pose = planar_transform(x, y, yaw, 0.5)
        plan.follow(np.eye(4), pose, float(stamp))
        plan.insert_points(turn, pose, planar_transform(x, y, yaw))
        voxels.integrate_depth(RgbdFrame(float(stamp + 1), camera, near, pose @ BODY_FROM_OPTICAL, np.eye(4)))
        trajectory = voxels._anchor.trajectory
        looks = pose @ planar_transform(0.0, 0.0, np.pi / 2 * (-1) ** stamp) @ BODY_FROM_OPTICAL
        surfaces.integrate(far, camera, looks, None, (trajectory.serial, trajectory.submap))
        own = np.flatnonzero(nearest == stamp) + 1
        for identity in own.tolist():
            place = places[identity - 1]
            _add(voxels, identity, place, float(stamp + 1), rng)
            instances[identity] = _instance(identity, place, float(stamp + 1))
        delta = _delta(
            float(stamp + 1), stamp + 1, tuple(instances[i] for i in own.tolist()), np.eye(4), pose
        )
        mirror.apply(scene.update(delta))
    plan.project(0.0)
    jump = planar_transform(0.8, -0.5, 0.03)
    (x, y, yaw), last = way[-1], float(len(way) + 1)
    end = planar_transform(x, y, yaw, 0.5)
    moves = voxels._anchor.trajectory.correction(np.eye(4), jump, end @ BODY_FROM_OPTICAL, last)
    assert moves is not None
    frame = RgbdFrame(last, camera, near, end @ BODY_FROM_OPTICAL, jump)
    scene_delta = _delta(last, len(way) + 1, (), jump, end)
    workers: tuple[Steps, ...] = (
        {"octree": lambda: plan.follow(jump, end, last), "plan": lambda: plan.project(last)},
        {"voxels": lambda: voxels.integrate_depth(frame)},
        {"surfaces": lambda: surfaces.bend(moves)},
        {"scene": lambda: mirror.apply(scene.update(scene_delta))},
    )
    seconds, busy, gap = _beside_heartbeats(workers)
    return {
        **seconds,
        "seconds": max(sum(seconds[name] for name in steps) for steps in workers),
        "cpu": sum(busy),
        "cpu_slowest": max(busy),
        "gap": gap,
        "entities": float(len(mirror.entities)),
        "blocks": float(surfaces.blocks.live),
        "moved": moves.largest,
    }


def _beside_heartbeats(workers: Sequence[Steps]) -> tuple[dict[str, float], list[float], float]:
    """Run each worker's steps on its own thread; return their seconds, the processor time of each worker, and the
    longest time between two heartbeats of this thread.

    Full garbage collections are off meanwhile, as in the process that sends heartbeats (`IdleCollector` of
    `lodestar_ros`): one stops every thread for 0.2 s.
    """
    collections = gc.get_threshold()
    gc.set_threshold(collections[0], collections[1], 1_000_000_000)
    seconds: dict[str, float] = {}
    cpu: list[float] = []

    def work(steps: Steps) -> None:
        start = time.thread_time()
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            seconds[name] = time.perf_counter() - began
        cpu.append(time.thread_time() - start)

    threads = [threading.Thread(target=work, args=(steps,)) for steps in workers]
    for thread in threads:
        thread.start()
    last, longest = time.perf_counter(), 0.0
    while any(thread.is_alive() for thread in threads):
        time.sleep(_BEAT)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    gc.set_threshold(*collections)
    return seconds, cpu, longest


def _way(side: float) -> np.ndarray:
    """Return poses (N, 3) every half metre of a path to and fro over the floor and back to the start."""
    corners = [np.array([1.0, 1.0])]
    for k, y in enumerate(np.arange(1.0, side, _AISLE)):
        first, last = (1.0, side - 1.0) if k % 2 == 0 else (side - 1.0, 1.0)
        corners += [np.array([first, y]), np.array([last, y])]
    corners += [np.array([0.5, side - 0.5]), np.array([0.5, 0.5])]
    found = []
    for a, b in pairwise(corners):
        length = float(np.linalg.norm(b - a))
        heading = float(np.arctan2(b[1] - a[1], b[0] - a[0]))
        found += [(*(a + (b - a) * way / length), heading) for way in np.arange(0.0, length, 0.5)]
    return np.array(found)


def _turn(rng: np.random.Generator) -> np.ndarray:
    """Return the hits (N, 3) of a LiDAR among furniture 2 to 6 m away, and of the floor."""
    angles, rings = np.meshgrid(np.linspace(-np.pi, np.pi, 180, endpoint=False), np.linspace(-0.4, 0.4, 12))
    reach = rng.uniform(2.0, 6.0, angles.shape[1])[None].repeat(12, axis=0)
    reach = np.where(rings < -0.05, np.minimum(reach, 0.5 / np.sin(-np.minimum(rings, -0.05))), reach)
    flat = reach * np.cos(rings)
    return np.stack([flat * np.cos(angles), flat * np.sin(angles), reach * np.sin(rings)], axis=-1).reshape(
        -1, 3
    )


def _add(
    voxels: SemanticVoxelMap, identity: int, place: np.ndarray, stamp: float, rng: np.random.Generator
) -> None:
    """Add a confirmed instance of about a hundred voxels at a place, as fusion would."""
    size = VOXEL_SIZE
    points = place + rng.uniform(-0.2, 0.2, (160, 3))
    coords = np.unique(np.floor(points / size).astype(np.int32), axis=0)
    track = voxels._registry.start(stamp, points)
    assert track.id == identity or track.id > 0
    track.observation_count = VOXEL_CONFIRM
    track.vote("chair", "gray chair", 1.0, VOXEL_CAPTIONS, VOXEL_LABEL_VOTES)
    store, node = voxels._store, voxels._anchor.trajectory.serial + 1
    places = store.vote(coords, np.full(len(coords), track.id), VOXEL_VOTE, 4, 8, int(stamp), node)
    voxels._fusion.surface.add(
        store, places, ((coords + 0.5) * size).astype(np.float32), np.ones(len(coords), np.float32)
    )


def _instance(identity: int, place: np.ndarray, stamp: float) -> Instance:
    votes = (CaptionVote("chair", "gray chair", 3.0),)
    return Instance(
        identity, 1, place, 0.01 * np.eye(3), place - 0.2, place + 0.2, votes, 0.9, 9, True, stamp, stamp
    )


def _delta(
    stamp: float, revision: int, updated: tuple[Instance, ...], map_from_odom: np.ndarray, odom: np.ndarray
) -> InstanceDelta:
    seen = Observation(1, stamp, odom, ImageBox(0, 0, 8, 8), 64, "chair", "gray chair", 0.9, 2.0)
    return InstanceDelta(
        stamp=stamp, revision=revision, previous_revision=revision - 1, updated=updated, observations=(seen,),
        map_from_odom=map_from_odom, map_id=1, session_id="large",
    )  # fmt: skip
