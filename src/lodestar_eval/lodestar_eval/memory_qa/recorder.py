"""Drive a tour and record the outputs of the robot's own components."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.local_map import LocalMap
from lodestar.mapping.instances.records import Observation
from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.records import Region, SceneDelta
from lodestar_eval.memory_qa.recording import (
    DRIVE,
    KEYFRAMES,
    TURN,
    Deed,
    Glance,
    Recording,
    Sighting,
    Stream,
    TourStep,
    keyframe_store,
)
from lodestar_eval.memory_qa.route import laps
from lodestar_eval.range_sensors import RangeSensors
from lodestar_eval.settings import NOISES, robot_config
from lodestar_eval.tour import Tour, TourConfig, TourFrame, TourMoment
from lodestar_sim.sensors import CameraFrame
from lodestar_sim.worlds.world import World


def record(
    spec: str,
    world: World,
    seed: int,
    phrases: PhraseBook,
    config: TourConfig,
    keyframe_folder: Path,
    noise: NoiseConfig = NOISES["mild"],
) -> Recording:
    """Return the recording of a tour along `laps` through the world. noise: perception errors."""
    tour = Tour(world, seed, config, laps(world, config))
    recorder = _Recorder(tour, seed, phrases, keyframe_folder, noise)
    for moment in tour.moments():
        recorder.take(moment)
    return Recording(spec, seed, world, recorder.stream(), tuple(recorder.glances))


class _Recorder:
    def __init__(
        self, tour: Tour, seed: int, phrases: PhraseBook, keyframe_folder: Path, noise: NoiseConfig
    ) -> None:
        robot = robot_config(noise)
        self._tour, self._folder = tour, keyframe_folder
        self.chain = LocalMap(robot, phrases)
        self._ranges = RangeSensors(tour.simulator, robot.mapping)
        self._detector = parts.ground_truth_detector(robot.perception, np.random.default_rng([seed, 7]))
        self._keyframes = keyframe_store(keyframe_folder)
        self._deltas: list[SceneDelta] = []
        self.chain.followers.append(self._hear)
        self._observations: tuple[Observation, ...] = ()
        self._regions: dict[int, Region] = {}
        self._next_keyframe = 0.0
        self.glances: list[Glance] = []
        self._steps: list[TourStep] = []
        self._deeds: list[Deed] = []

    def _hear(self, delta: SceneDelta) -> None:
        self._deltas.append(delta)

    def take(self, moment: TourMoment) -> None:
        """Process the current sensor data and record the outcome."""
        simulator, chain = self._tour.simulator, self.chain
        seen = self._tour.look(moment)
        self._ranges.give(chain)
        image = seen.image
        frame = RgbdFrame(
            image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom, image.rgb
        )
        segmented = self._detector.segment(image.stamp, image.labels, image.label_table, frame)
        chain.take_depth(frame, simulator.odom_from_base)
        fused = chain.take_segments(frame, segmented)
        self._observations = chain.seen.observations if fused and chain.seen else ()
        chain.work(image.stamp)
        self._note(moment, frame)
        self.glances.append(glance_of(seen, simulator.true_pose))

    def _note(self, moment: TourMoment, frame: RgbdFrame) -> None:
        mirror, base = self.chain.mirror, self._tour.simulator.map_from_base
        sightings = self._sightings()
        self._steps.append(
            TourStep(
                frame.stamp,
                base.copy(),
                frame.map_from_camera.copy(),
                sightings,
                tuple(self._deltas),
                mirror.region_at(base[:3, 3]),
                None if mirror.regions is self._regions else tuple(mirror.regions.values()),
                self._keep(frame, sightings),
            )
        )
        self._regions, self._deltas, self._observations = (
            mirror.regions,
            [],
            (),
        )  # a changed mirror has a new regions mapping
        kind = TURN if moment.turning else DRIVE
        if self._deeds and self._deeds[-1].kind == kind:
            self._deeds[-1] = Deed(kind, self._deeds[-1].start, frame.stamp)
        else:
            self._deeds.append(Deed(kind, self._deeds[-1].end if self._deeds else frame.stamp, frame.stamp))

    def _sightings(self) -> tuple[Sighting, ...]:
        mirror = self.chain.mirror
        found = []
        for o in self._observations:
            identity = mirror.resolve(o.instance_id)
            if identity in mirror.entities:
                found.append(Sighting(identity, o.label, o.caption, o.box, o.pixel_count, o.distance))
        return tuple(found)

    def _keep(self, frame: RgbdFrame, sightings: tuple[Sighting, ...]) -> int:
        """Offer the image to the keyframe store once per `interval`; return its id, 0 = not kept."""
        if frame.stamp + 1e-9 < self._next_keyframe:
            return 0
        self._next_keyframe = frame.stamp + KEYFRAMES.interval
        simulator, camera = self._tour.simulator, frame.camera
        rgb, _ = simulator.render_view(simulator.robot.world_from_ground, camera.width, camera.height)
        kept = self._keyframes.offer(
            RgbdFrame(frame.stamp, camera, frame.depth, frame.odom_from_camera, frame.map_from_odom, rgb)
        )
        if kept is None:
            return 0
        linked = self._keyframes.link(frame.stamp, {s.entity_id: s.box for s in sightings})
        self.chain.scene.dictionary.link_keyframe(linked or kept)
        return kept.id

    def stream(self) -> Stream:
        """Return the recorded stream."""
        mirror = self.chain.mirror.snapshot()
        return Stream(tuple(self._steps), tuple(self._deeds), self.chain.grid, mirror, self._folder)


def glance_of(seen: TourFrame, pose: np.ndarray) -> Glance:
    """Return the ground truth of an image."""
    ids = seen.ids.ravel()
    pixels = np.bincount(ids)
    pixels[0] = 0
    depth = np.where(np.isfinite(seen.depth.ravel()), seen.depth.ravel(), 0.0)
    total = np.bincount(ids, depth)
    things = {int(i): (int(pixels[i]), float(total[i] / pixels[i])) for i in np.flatnonzero(pixels)}
    image: CameraFrame = seen.image
    return Glance(image.stamp, pose.copy(), things)
