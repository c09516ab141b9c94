"""Headless robot in a simulated building, fed with the simulator's sensor records."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import COLOR_ADAPTERS
from lodestar.assembly.local_map import unmeasured
from lodestar.assembly.memory_handover import Keeper
from lodestar.assembly.robot import HeadlessRobot
from lodestar.geometry.poses import planar_pose
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.records import ImageName
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import AlignedDepth, RgbdFrame
from lodestar.scene.mirror import SceneMirror
from lodestar.selection.policy import Policy
from lodestar_eval.delayed import DelayedReasoner
from lodestar_eval.range_sensors import RangeSensors
from lodestar_eval.search_eyes import ANSWERS, PICTURES, VIEW, EyesReasoner, SearchEyes, SearchImages, serving
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.stages import StageClock
from lodestar_sim.sensors import CameraFrame
from lodestar_sim.simulator import Simulator


class SimulatedRobot:
    """Feeds a HeadlessRobot from a simulator: from true labels, or from colour images if the configuration has a
    detector for them (raises DetectorUnavailable).

    rng: noise of detections from labels. memory: store for its memories; None = no memory.
    """

    def __init__(
        self,
        simulator: Simulator,
        settings: EpisodeSettings,
        phrases: PhraseBook,
        rng: np.random.Generator,
        clock: StageClock | None = None,
        policy: Policy | None = None,
        memory: Keeper | None = None,
    ) -> None:
        self.simulator, self.settings = simulator, settings
        self._stages = unmeasured if clock is None else clock.stage
        self._ranges = RangeSensors(simulator, settings.robot.mapping, self._stages)
        self._sees_color = settings.robot.perception.adapter in COLOR_ADAPTERS
        self.detector: Any = self._made_detector(rng)
        self._memory = memory
        self.eyes: SearchEyes | None = SearchEyes(phrases) if settings.eyes in (VIEW, PICTURES) else None
        answers, chat = serving() if settings.eyes == ANSWERS else (None, None)
        self._eyes = self.eyes or answers
        self._images: SearchImages | None = None
        self.headless = HeadlessRobot(
            settings.robot, phrases, policy, reasoner=self._reasoner, stages=self._stages,
            remembers=memory is not None or self.eyes is not None, kinds=settings.kinds, pictures=self._picture,
            answers_by=chat,
        )  # fmt: skip
        self.headless.use_detector(self.detector)
        self._use_memory()
        self._images = self._kept_images()

    def _kept_images(self) -> SearchImages | None:
        """Return the store of images for the scripted vision model; None without one."""
        offered = self.settings.eyes == PICTURES
        return None if self._eyes is None else SearchImages(self.headless, self._eyes, offered)

    def _picture(self, name: ImageName) -> bytes | None:
        return None if self._images is None else self._images.annotated(name)

    def _use_memory(self) -> None:
        if self._memory is not None and self.headless.memory is not None:
            self.headless.memory.use_store(self._memory)

    def _reasoner(self) -> Reasoner:
        """Return an offline reasoner with the settings' delay; one per expert, as each node has its own."""
        delay = self.settings.reasoner_delay
        if self.eyes is not None:
            return DelayedReasoner(delay, lambda: self.simulator.time, EyesReasoner(self.eyes))
        return DelayedReasoner(delay, lambda: self.simulator.time) if delay > 0.0 else OfflineReasoner()

    def _made_detector(self, rng: np.random.Generator) -> Any:
        perception = self.settings.robot.perception
        if self._sees_color:
            return parts.color_detector(perception)
        return parts.ground_truth_detector(perception, rng)

    def forget(self, rng: np.random.Generator) -> None:
        """Clear the map and reset the detector's noise."""
        if not self._sees_color:  # a colour detector has no state, and its network takes a second to load
            self.detector = self._made_detector(rng)
        self.headless.forget()
        self.headless.use_detector(self.detector)
        self._use_memory()
        self._images = self._kept_images()

    @property
    def grid(self) -> OccupancyGrid2D:
        """Return the floor plan with the keep-out zones."""
        return self.headless.grid

    @property
    def mirror(self) -> SceneMirror:
        """Return the copy of the scene that the experts read."""
        return self.headless.map.mirror

    @property
    def pose(self) -> np.ndarray:
        """Return the estimated pose (3,)."""
        return planar_pose(self.simulator.map_from_base)

    def look(self) -> CameraFrame | None:
        """Process a LiDAR scan and an image of this moment; return the image, None if the camera is off."""
        settings = self.settings
        if "camera" in self.simulator.muted:
            self.turn()
            return None
        with self._stages("render"):
            color = self._sees_color or self.headless.map.wants_color or self._images is not None
            image = self.simulator.render(color, settings.width, settings.height, labels=not self._sees_color)
        self.turn()
        self.see(image)
        return image

    def turn(self) -> None:
        """Simulate and process a scan of the range sensor (LiDAR or planar) if the map needs one."""
        if "ranges" not in self.simulator.muted:
            self._ranges.give(self.headless.map)

    def see(self, image: CameraFrame) -> None:
        """Process an image."""
        frame = RgbdFrame(
            image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom, image.rgb
        )
        with self._stages("detect"):
            if self._sees_color and image.rgb is not None:
                depth = AlignedDepth(image.depth, image.camera)
                segmented = self.detector.detect(image.stamp, image.rgb, depth)
            else:
                segmented = self.detector.segment(image.stamp, image.labels, image.label_table, frame)
        self.headless.take_view(frame, segmented, self.simulator.odom_from_base)
        if self._images is not None:
            self._images.take(frame, self.simulator)
