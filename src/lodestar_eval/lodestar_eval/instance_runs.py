"""Tours on which several maps, one per scenario and feature, process the same frames."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig, SemanticVoxelsConfig, changed
from lodestar.geometry.poses import planar_transform
from lodestar.mapping.semantic_voxels import FrameRejected
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar_eval.instance_metrics import IdentityWatch, masks_of, score
from lodestar_eval.instance_truth import SeenParts
from lodestar_eval.settings import NOISES
from lodestar_eval.tour import NARROW, Tour, TourConfig, TourFrame
from lodestar_sim.robot import LocalizationConfig
from lodestar_sim.simulator import SimConfig
from lodestar_sim.worlds.world import World

#: Simulated errors of detections in "noise", and of localisation in all scenarios but "clean".
NOISE = NoiseConfig(miss=0.10, split=0.05, wrong_label=0.10, score_std=0.05)
WALK = LocalizationConfig(error_per_meter=0.01, yaw_error_per_meter=0.002, correction_every=30.0)
_NOISES = {"noise": NOISE, "clean": NoiseConfig(), "mild": NOISES["mild"]}
#: Kind of masks that each scenario uses, of `_NOISES`.
_MASKS = {"noise": "noise", "jump": "noise", "clean": "clean", "masks": "clean", "mild": "mild"}
# m, m, rad: an error of map <- odom of 0.5 m and 5 degrees, corrected in mid-run
JUMP = (0.3, 0.4, float(np.radians(5.0)))


@dataclass(frozen=True)
class Variant:
    """Configuration of one map under test.

    scenario: "noise" (the errors of `NOISE`), "jump" (also a jump of map <- odom in mid-run), "clean" (no
    errors), "masks" (only localisation errors) or "mild" (these, and the mask errors of the noise "mild").
    feature: appearance vector of detections: "none"; "histogram", the robot's; "truth", a random vector per
    true object.
    """

    scenario: str
    feature: str = "none"


_TRUE_DIMENSION = 64


class _Map:
    """One map under test with its measurements."""

    def __init__(self, variant: Variant):
        self.variant = variant
        self.voxels = parts.voxel_map(SemanticVoxelsConfig())
        self.watch = IdentityWatch()
        self.seconds = 0.0

    def take(self, frame: RgbdFrame, segmented: SegmentedFrame, shown: list[int]) -> None:
        began = time.thread_time()
        try:
            delta = self.voxels.fuse(frame, segmented)
        except FrameRejected:  # the camera is too close to a wall for depth
            return
        finally:
            self.seconds += time.thread_time() - began
        self.watch.add(delta, segmented.detections, shown, self.voxels.resolve)


class Building:
    """One building, toured once for the maps of all variants."""

    def __init__(self, world: World, seed: int, variants: list[Variant]):
        self.world = world
        self._features = {variant.feature for variant in variants}
        simulated = SimConfig(robot=NARROW, localization=WALK)
        self.tour = Tour(world, seed, TourConfig(simulator=simulated, colored="histogram" in self._features))
        self.maps = [_Map(variant) for variant in variants]
        self.parts = SeenParts(max(world.labels(), default=0))
        self.frames = 0
        self._scenarios = {variant.scenario for variant in variants}
        self._detectors = {
            kind: parts.ground_truth_detector(
                PerceptionConfig(noise=noise), np.random.default_rng([seed, number])
            )
            for number, (kind, noise) in enumerate(_NOISES.items(), 1)
        }
        self._describer = parts.appearance_describer(changed(PerceptionConfig(), appearance__by="histogram"))
        vectors = np.random.default_rng([seed, 4]).normal(size=(len(self.parts), _TRUE_DIMENSION))
        self._true = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        self._middle = len(self.tour.stops) // 2
        self._error = self._jump()

    def _jump(self) -> np.ndarray:
        """Return the error (4, 4) of map <- odom until its correction in mid-run.

        It is a rotation about the stop before the correction, and a shift.
        """
        stops = self.tour.stops
        x, y = stops[self._middle - 1] if self._middle else self.world.start[:2]
        return planar_transform(x + JUMP[0], y + JUMP[1], JUMP[2]) @ planar_transform(-x, -y, 0.0)

    def run(self) -> dict[Variant, dict[str, float]]:
        """Run the tour; return the counts of each variant."""
        for frame in self.tour.frames():
            self._take(frame)
        truth = self.parts.result()
        labels = {i: entry["class"] for i, entry in self.world.labels().items()}
        results: dict[Variant, dict[str, float]] = {}
        for each in self.maps:
            found = [i for i in each.voxels.instances().values() if i.confirmed]
            objects = each.watch.objects_of([i.id for i in found], each.voxels.resolve)
            results[each.variant] = {
                **score(found, objects, truth, labels),
                "switches": each.watch.switches,
                "sightings": each.watch.sightings,
                "merges": each.watch.merged(objects, truth.ids.tolist(), each.voxels.resolve),
                "frames": self.frames,
                "seconds": each.seconds,
            }
        return results

    def _take(self, frame: TourFrame) -> None:
        self.frames += 1
        self.parts.add(frame)
        image, seen = frame.image, {}
        for masks in sorted({_MASKS[scenario] for scenario in self._scenarios}):
            segmented = self._detectors[masks].segment(image.stamp, image.labels, image.label_table)
            shown = masks_of(segmented, frame.ids)
            for feature in sorted(self._features):
                seen[masks, feature] = self._described(feature, frame, segmented, shown), shown
        images = {scenario: self._rgbd(frame, scenario) for scenario in self._scenarios}
        for each in self.maps:
            scenario = each.variant.scenario
            each.take(images[scenario], *seen[_MASKS[scenario], each.variant.feature])

    def _described(
        self, feature: str, frame: TourFrame, segmented: SegmentedFrame, shown: list[int]
    ) -> SegmentedFrame:
        """Return the detections with feature vectors. shown: id of the true object of each mask.

        The simulator's captions are exact, so they are replaced by the labels, as a real detector gives.
        """
        plain = [replace(d, caption=d.label) for d in segmented.detections]
        if feature == "truth":
            plain = [
                replace(d, feature=self._true[o], feature_model="truth") if o else d
                for d, o in zip(plain, shown)
            ]
        segmented = replace(segmented, detections=tuple(plain))
        if feature == "histogram" and self._describer is not None and frame.image.rgb is not None:
            return self._describer.describe(frame.image.rgb, segmented)
        return segmented

    def _rgbd(self, frame: TourFrame, scenario: str) -> RgbdFrame:
        image = frame.image
        if scenario == "clean":
            depth = np.where(np.isfinite(frame.depth), frame.depth, 0.0).astype(np.float32)
            return RgbdFrame(image.stamp, image.camera, depth, frame.world_from_camera)
        before = scenario == "jump" and frame.stops < self._middle
        map_from_odom = self._error @ image.map_from_odom if before else image.map_from_odom
        return RgbdFrame(image.stamp, image.camera, image.depth, image.odom_from_camera, map_from_odom)
