"""A street for the memory node: the topics that it hears, and the memory as a person uses it."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from integration.bed import PATIENCE
from integration.fakes import CAMERA, FakeRobot
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity, SceneDelta
from lodestar_interfaces import msg, srv
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros import qos
from lodestar_ros.conversions import box_to_msg, header, stamp_to_msg
from lodestar_ros.conversions_scene import scene_to_msg

Manage = srv.ManageMemory
NODES = ("memory", "text_embedder")
CAMERA_FROM_BASE = (
    planar_transform(0.3, 0.0, 0.0, 0.45) @ BODY_FROM_OPTICAL
)  # base <- optical, of `FakeRobot`


def thing(identity, label, caption, place, size=0.3):
    place, now = np.array(place, float), time.time()
    return Entity(
        identity, label, caption, place, np.eye(3) * 0.01, place - size / 2, place + size / 2,
        attributes=(caption.split()[0],), observation_count=9, first_seen=now, last_seen=now,
    )  # fmt: skip


def box_of(entity, pose):
    """Return the box of an entity, outlined by a diamond, in the camera at this pose; None where a part is unseen."""
    picks = (np.arange(8)[:, None] >> np.arange(3)) & 1
    corners = np.where(picks, entity.box_max, entity.box_min)
    map_from_camera = planar_transform(*pose) @ CAMERA_FROM_BASE
    inside = (corners - map_from_camera[:3, 3]) @ map_from_camera[:3, :3]
    if (inside[:, 2] < 0.1).any():
        return None
    pixels, _ = CAMERA.project(inside)
    low, high = np.floor(pixels.min(axis=0)), np.ceil(pixels.max(axis=0))
    if (low < 0).any() or (high > (CAMERA.width, CAMERA.height)).any():
        return None
    x, y, width, height = *map(int, low), *map(int, high - low)
    right, bottom = x + width - 1, y + height - 1
    diamond = (x + width // 2, y, right, y + height // 2, x + width // 2, bottom, x, y + height // 2)
    return ImageBox(x, y, width, height, outline=diamond)


class Street:
    """The topics that the memory hears, and the memory as a person uses it."""

    def __init__(self, bed, processes, folder):
        self.bed, self.processes, self.folder = bed, processes, folder
        self.robot = bed.on_executor(lambda: FakeRobot(bed))
        make = bed.node.create_publisher
        self.entities = bed.on_executor(lambda: make(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT))
        self.instances = bed.on_executor(
            lambda: make(msg.InstanceArray, "semantic_voxels/instances", qos.EVENT)
        )
        self.reports = bed.on_executor(lambda: make(msg.DirectiveReport, "goal_selector/report", qos.EVENT))
        bed.on_executor(
            lambda: bed.node.create_service(srv.GetEntities, "scene_dictionary/get_entities", self.page)
        )
        self.revision = 0
        self.known = (
            thing(1, "mug", "red mug", (1.0, 0.5, 0.8)),
            thing(2, "table", "brown table", (1, 1, 0.4), 0.8),
        )

    def start(self, *more, **settings):
        """Start the memory, with more nodes and with further parameters of its own."""
        memory = {"store.folder": str(self.folder), "retry_period": 0.5, **settings}
        keyframes = {"remembered_folder": str(self.folder / "images")}
        self.processes.start(*NODES, *more, parameters={"memory": memory, "keyframes": keyframes})
        self.bed.until(lambda: self.bed.diagnosis("memory"), "the memory's diagnostics")

    def delta(self, since=0):
        return SceneDelta(time.time(), self.revision, since, self.known, session_id="first.a1")

    def page(self, request, response):
        response.delta, _ = scene_to_msg(self.delta(int(request.since_revision)))
        response.until_id = srv.GetEntities.Request.ALL
        return response

    def see(self, image=False, **changes):
        """One image with the mug and the table, and the scene with them. image: its pixels too, for a keyframe.
        changes: of the scene's delta.
        """
        stamp = time.time()
        self.revision += 1
        self.entities.publish(scene_to_msg(replace(self.delta(self.revision - 1), **changes))[0])
        seen = []
        for one in self.known:
            box = box_of(one, self.robot.pose) if image else ImageBox(0, 0, 1, 1)
            if box is not None:
                seen.append(
                    msg.Observation(
                        instance_id=one.id, stamp=stamp_to_msg(stamp), pixel_count=900, label=one.label,
                        image_box=box_to_msg(box),
                    )
                )  # fmt: skip
        self.robot.look(stamp, parts=("info", "color") if image else ("info",))
        self.instances.publish(msg.InstanceArray(header=header(stamp, "map"), observations=seen))

    def walk(self, x, speed=0.8):
        """Walk along x with images; no jump that a robot cannot drive."""
        while abs(x - self.robot.pose[0]) > 1e-6:
            here = self.robot.pose[0]
            step = min(0.2 * speed, abs(x - here))
            self.robot.pose = (here + step * np.sign(x - here), *self.robot.pose[1:])
            time.sleep(0.2)
            self.see(image=True)

    def look_until(self, condition, what, timeout=60.0, image=False):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, (
                f"not within {timeout:.0f} s: {what}\n{self.bed.diagnosis('memory')}"
            )
            self.see(image=image)
            time.sleep(0.2)

    def count(self, name):
        return self.bed.count("memory", name)

    def ask(self, question, timeout=90.0, **fields):
        goal = AnswerQuestion.Goal(question=question, **fields)
        return self.bed.action(AnswerQuestion, "memory/answer").result(goal, timeout)

    def manage(self, what, **fields):
        request = Manage.Request(what=what, **fields)
        once = PATIENCE if "expected" in fields else 5.0  # what was forgotten fits no second time
        return self.bed.call(Manage, "memory/manage", request, each=once)
