"""Test stage for the memory node: publishers of its inputs, and calls of its services."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from waiting import wait_for

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
)  # transform base <- optical of `FakeRobot`


def thing(identity, label, caption, place, size=0.3):
    place, now = np.array(place, float), time.time()
    return Entity(
        identity, label, caption, place, np.eye(3) * 0.01, place - size / 2, place + size / 2,
        attributes=(caption.split()[0],), observation_count=9, first_seen=now, last_seen=now,
    )  # fmt: skip


def box_of(entity, pose):
    """Return the image box of an entity, with a diamond outline, from a robot pose; None unless entirely in view."""
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
    """Publishers of the memory's inputs, a fake robot, and calls of the memory's services."""

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
        """Start the memory node with parameters `settings`, and further nodes."""
        memory = {"store.folder": str(self.folder), **settings}
        keyframes = {"remembered_folder": str(self.folder / "images")}
        self.processes.start(*NODES, *more, parameters={"memory": memory, "keyframes": keyframes})
        self.bed.until(lambda: self.bed.diagnosis("memory"), "the memory's diagnostics")
        self.bed.until_heard(self.entities, self.instances, self.reports)

    def delta(self, since=0):
        return SceneDelta(time.time(), self.revision, since, self.known, session_id="first.a1")

    def page(self, request, response):
        response.delta, _ = scene_to_msg(self.delta(int(request.since_revision)))
        response.until_id = srv.GetEntities.Request.ALL
        return response

    def see(self, image=False, **changes):
        """Publish one observation of the known objects, and the scene.

        image: publish pixels too, for a keyframe. changes: fields of the scene's delta to replace.
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
        self.robot.look(stamp, parts=("info", "look", "color") if image else ("look",))
        self.instances.publish(msg.InstanceArray(header=header(stamp, "map"), observations=seen))

    def walk(self, x, speed=0.8):
        """Walk to `x` at a speed a robot can drive, with images on the way."""
        while abs(x - self.robot.pose[0]) > 1e-6:
            here = self.robot.pose[0]
            step = min(0.2 * speed, abs(x - here))
            self.robot.pose = (here + step * np.sign(x - here), *self.robot.pose[1:])
            time.sleep(0.2)
            self.see(image=True)

    def look_until(self, condition, what, image=False):
        def told():
            return f"{what}\n{self.bed.diagnosis('memory')}"

        wait_for(lambda: condition() or self.see(image=image), told, every=0.2)

    def count(self, name):
        return self.bed.count("memory", name)

    def ask(self, question, **fields):
        goal = AnswerQuestion.Goal(question=question, **fields)
        return self.bed.action(AnswerQuestion, "memory/answer").result(goal)

    def manage(self, what, **fields):
        request = Manage.Request(what=what, **fields)
        once = "expected" in fields  # must not be sent twice
        return self.bed.call(Manage, "memory/manage", request, once)
