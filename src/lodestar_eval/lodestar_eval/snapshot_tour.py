"""Snapshots of a simulated building after a tour: map chain, keyframe store and upkeep together."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.local_map import LocalMap
from lodestar.keyframes.store import KeyframeStore
from lodestar.memory.snapshots.cluster_upkeep import SNAPSHOT_QUALITY_WEIGHT
from lodestar.memory.snapshots.clusters import cover_clusters
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.scene.records import EntityState
from lodestar_eval.covisibility import covisibility_clusters
from lodestar_eval.range_sensors import RangeSensors
from lodestar_eval.settings import robot_config
from lodestar_eval.snapshot_images import greedy_cover
from lodestar_eval.tour import Tour, TourConfig, TourFrame
from lodestar_sim.worlds import world_from_spec

FRAME_PERIOD = 1.0  # simulated seconds between images
# least pixels of an object in a 320x240 image that count as seen; chosen: 1/4 of a percent
_SEEN_PIXELS = 200
_ROUNDS = 50  # more rounds of the stops than fit; the time ends the tour


class SnapshotTour:
    """Robot that keeps snapshots while it tours a world. folder: of its images."""

    def __init__(self, spec: str, seed: int, seconds: float, folder: Path) -> None:
        self._tour = Tour(
            world_from_spec(spec, seed),
            seed,
            TourConfig(frame_interval=FRAME_PERIOD, limit=seconds, rounds=_ROUNDS),
        )
        robot = robot_config()
        self._chain = LocalMap(robot, PhraseBook())
        self._ranges = RangeSensors(self._tour.simulator, robot.mapping)
        self._detector = parts.ground_truth_detector(robot.perception, np.random.default_rng([seed, 7]))
        self._store = KeyframeStore(folder, robot.keyframes.store, robot.shared.map_id)
        self.upkeep = SnapshotUpkeep()
        self._chain.followers.append(self.upkeep.apply)
        self._truth: dict[int, set[int]] = {}  # keyframe id -> true objects in its image
        self._seen: set[int] = set()
        self._times: list[float] = []
        self._changes = self._frames = 0

    def run(self) -> dict[str, float]:
        """Drive the tour and return the metrics at its end.

        entities: those not archived; entities_covered: share of entities with a snapshot; covered: share of the
        true objects seen on the tour that the image of a snapshot shows.
        """
        for frame in self._tour.frames():
            self._take(frame)
        return self._counted()

    def _take(self, frame: TourFrame) -> None:
        self._frames += 1
        image, shape = frame.image, frame.image.depth.shape
        self._ranges.give(self._chain)
        blank = np.zeros((*shape, 3), np.uint8)  # blank pixels suffice, as the store selects by pose
        view = RgbdFrame(
            image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom, blank
        )
        segmented = self._detector.segment(image.stamp, image.labels, image.label_table)
        self._chain.take_depth(view, self._tour.simulator.odom_from_base)
        fused = self._chain.take_segments(view, segmented)
        self._chain.work(view.stamp)
        shown = {i for i, n in Counter(frame.ids.ravel().tolist()).items() if i > 0 and n >= _SEEN_PIXELS}
        self._seen |= shown
        keyframe = self._store.offer(view)
        if keyframe is not None:
            self._truth[keyframe.id] = shown
            boxes: dict[int, ImageBox] = {}
            if fused and self._chain.seen is not None:
                boxes = {each.instance_id: each.box for each in self._chain.seen.observations}
            self.upkeep.put_keyframe(self._store.link(view.stamp, boxes) or keyframe)
            self.upkeep.keep_only(each.id for each in self._store.keyframes())
        began = time.thread_time()
        news = self.upkeep.commit(view.stamp)
        self._times.append(time.thread_time() - began)
        self._changes += len(news.updated) + len(news.removed)
        self._store.want(sorted(self.upkeep.wanted))

    def _counted(self) -> dict[str, float]:
        upkeep, sights = self.upkeep, self.upkeep.sights()
        entities = self._chain.mirror.entities
        visible = {entity for scores in sights.values() for entity in scores}
        places = {i: (entities[i].box_min[:2] + entities[i].box_max[:2]) / 2 for i in visible}
        alive = {i for i, entity in entities.items() if entity.state is not EntityState.ARCHIVED}
        homes = {entity for snapshot in upkeep.snapshots.values() for entity in snapshot.entity_ids}
        images = [self._truth[snapshot.keyframe_id] for snapshot in upkeep.snapshots.values()]
        covered = self._seen & set().union(*images)
        count, ours = len(upkeep.snapshots), len(cover_clusters(visible, sights, SNAPSHOT_QUALITY_WEIGHT))
        return {
            "frames": self._frames, "keyframes": len(self._store), "entities": len(alive),
            "snapshots.incremental": count, "snapshots.ours": ours,
            "snapshots.algorithm_1": len(covisibility_clusters(places, sights)),
            "snapshots.greedy": len(greedy_cover(sights)), "of_frames": count / max(self._frames, 1),
            "of_keyframes": count / max(len(self._store), 1), "covered": len(covered) / max(len(self._seen), 1),
            "entities_covered": len(homes & alive) / max(len(alive), 1), "changes": self._changes,
            "commit_p95_ms": 1e3 * float(np.percentile(self._times, 95)),
        }  # fmt: skip
