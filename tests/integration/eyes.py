"""Test stage of goal selector and perception with fake weights, and a camera."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from integration.bed import Bed, Processes
from integration.surroundings import TIMES, World, release_until_idle
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.conversions_sensors import image_to_msg

FAKES = Path(__file__).parents[1] / "fake_detector"
PERIOD = 0.2  # s between two images
WANTED, VOCABULARY, SEGMENTED = "goal_selector/wanted_words", "perception/vocabulary", "perception/segmented"


class Camera:
    """Publisher of one image per period, on its own thread."""

    def __init__(self, bed):
        make = bed.on_executor
        self._image = make(lambda: bed.node.create_publisher(Image, "camera/color/image_raw", qos.SENSOR))
        self._info = make(
            lambda: bed.node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        picture = image_to_msg(np.full((48, 640, 3), 90, np.uint8), "rgb8")
        while not self._over.wait(PERIOD):
            picture.header.stamp = stamp_to_msg(time.time())
            picture.header.frame_id = "camera"
            self._image.publish(picture)

    def close(self):
        self._over.set()
        self._thread.join()


class Stage:
    """A goal selector and a perception with the given weights."""

    def __init__(self, folder, **weights):
        self.bed = Bed()
        words = folder / "words.txt"
        words.write_text("# standing\nchair\ndesk\n")
        (folder / "weights.pt").write_text(json.dumps(weights))
        environment = {
            "PYTHONPATH": f"{FAKES}:{os.environ.get('PYTHONPATH', '')}",
            "LODESTAR_CACHE_DIR": str(folder / "cache"),
        }
        self.processes = Processes(folder / "logs", environment)
        for name, kind, profile in (
            (WANTED, msg.WantedWords, qos.LATCHED),
            (VOCABULARY, msg.VocabularyReport, qos.LATCHED),
            (SEGMENTED, msg.SegmentedImage, qos.RELIABLE),
        ):
            self.bed.hear(kind, name, profile)
        self.world = World(self.bed, self.processes, folder / "decisions.jsonl")
        eyes = {"adapter": "ultralytics", "model": str(folder / "weights.pt"), "words.file": str(words)}
        self.processes.start(
            "goal_selector", "motion_gate", "perception",
            parameters={"goal_selector": TIMES, "perception": {**eyes, "ultralytics.min_pixels": 1}},
        )  # fmt: skip
        self.camera = Camera(self.bed)
        self.bed.until(lambda: self.agreed, "both sides agree before any directive")
        self.world.robot.publish_grid()

    def close(self):
        self.camera.close()
        self.processes.stop()
        self.bed.close()

    @property
    def agreed(self):
        """Return whether the newest vocabulary report answers the newest request."""
        wanted, told = self.bed.last(WANTED), self.bed.last(VOCABULARY)
        return wanted is not None and told is not None and wanted.id == told.wanted_id

    def labels(self):
        frame = self.bed.last(SEGMENTED)
        return set() if frame is None else {one.label for one in frame.detections}

    def follow(self, text):
        self.world.leave_nothing()
        release_until_idle(self.bed)
        self.world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
        goal = self.bed.action(FollowDirective, "follow_directive").send(FollowDirective.Goal(text=text))
        self.bed.until(lambda: goal.feedback, "feedback")
        return goal
