"""Tests of last seen places: the memory reports them, also after its restart, and the expert returns to them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from waiting import wait_for

from integration.fakes import FakeRobot
from lodestar.experts.protocol import ProposalRequest
from lodestar.language.grammar import parse_directive
from lodestar.memory.last_seen import LastSeen, RememberedPlaces
from lodestar.memory.records import MapName, Primitive
from lodestar.scene.records import Entity, SceneDelta
from lodestar_interfaces import msg, srv
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_to_msg
from lodestar_ros.conversions_agent import request_to_goal
from lodestar_ros.conversions_memory import last_seen_to_msg
from lodestar_ros.conversions_scene import scene_to_msg

SESSION = "first.a1"


def thing(identity, label, caption, place, size=0.3):
    place, now = np.array(place, float), time.time()
    return Entity(
        identity, label, caption, place, np.eye(3) * 0.01, place - size / 2, place + size / 2,
        attributes=(caption.split()[0],), observation_count=9, first_seen=now, last_seen=now,
    )  # fmt: skip


class Flat:
    """Publishers of the inputs of memory and expert."""

    def __init__(self, bed, processes):
        self.bed, self.processes = bed, processes
        self.robot = bed.on_executor(lambda: FakeRobot(bed))
        make = bed.node.create_publisher
        self.entities = bed.on_executor(lambda: make(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT))
        self.instances = bed.on_executor(
            lambda: make(msg.InstanceArray, "semantic_voxels/instances", qos.EVENT)
        )
        bed.on_executor(
            lambda: bed.node.create_service(srv.GetEntities, "scene_dictionary/get_entities", self.page)
        )
        bed.hear(msg.SceneDelta, "memory/last_seen", qos.LATCHED)
        self.revision = 0
        self.known = {
            1: thing(1, "mug", "red mug", (-1.5, 0.0, 0.5)),  # behind the robot, known but not in view
            2: thing(2, "desk", "brown desk", (3.0, 1.0, 0.4), 0.6),
        }

    def page(self, request, response):
        delta = SceneDelta(time.time(), self.revision, 0, tuple(self.known.values()), session_id=SESSION)
        response.delta, _ = scene_to_msg(delta)
        response.until_id = srv.GetEntities.Request.ALL
        return response

    def see(self, removed=()):
        """Publish an observation of all objects, and the scene without the objects `removed`."""
        stamp = time.time()
        for identity in removed:
            del self.known[identity]
        self.revision += 1
        delta = SceneDelta(
            stamp, self.revision, self.revision - 1, tuple(self.known.values()), removed=tuple(removed),
            session_id=SESSION,
        )  # fmt: skip
        self.entities.publish(scene_to_msg(delta)[0])
        seen = [
            msg.Observation(instance_id=i, stamp=stamp_to_msg(stamp), pixel_count=900, label=one.label)
            for i, one in self.known.items()
        ]
        self.instances.publish(msg.InstanceArray(header=header(stamp, "map"), observations=seen))
        self.robot.look(parts=("look",))

    def until(self, condition, what):
        wait_for(lambda: condition() or self.see(), lambda: f"{what}\n{self.told()}", every=0.2)

    def told(self):
        heard = self.bed.last("memory/last_seen")
        return None if heard is None else [entity.caption for entity in heard.updated]

    def ask(self):
        request = ProposalRequest(1, time.time(), parse_directive("find the red mug"), 0, np.zeros(3))
        return self.bed.action(ProposeGoal, "semantic_map_expert/propose").result(request_to_goal(request))


@pytest.fixture(scope="module")
def flat(bed, processes, tmp_path_factory):
    flat = Flat(bed, processes)
    folder = tmp_path_factory.mktemp("home") / "memory"
    processes.start(
        "memory", "text_embedder", "semantic_map_expert",
        parameters={"memory": {"store.folder": str(folder)}},
    )  # fmt: skip
    bed.until(lambda: bed.diagnosis("memory"), "the memory's diagnostics")
    bed.until(lambda: bed.diagnosis("semantic_map_expert"), "the expert's diagnostics")
    bed.until_heard(flat.entities, flat.instances)
    bed.on_executor(flat.robot.publish_grid)
    return flat


def test_what_the_scene_does_not_have_any_more_is_told_and_gone_back_to(flat):
    flat.until(lambda: flat.bed.count("memory", "store.records") >= 2, "memories")
    flat.until(lambda: flat.told() == [], "nothing is missed")
    flat.see(removed=(1,))
    flat.until(lambda: flat.told() == ["red mug"], "the mug is where it was last seen")

    def found():  # the expert may hear it later
        result = flat.ask()
        return result if "the red mug was last seen here" in result.proposal.rationale else None

    result = wait_for(found, lambda: f"the expert goes back to it; {flat.ask()}", every=0.2)
    assert result.error_code == 0, result.error_msg
    assert result.proposal.goal.position.x < -0.3


def test_a_memory_that_comes_back_still_knows_the_place(flat):
    flat.processes.kill("memory")
    flat.bed.forget("memory/last_seen")
    flat.bed.forget("/diagnostics")
    assert "last seen here" in flat.ask().proposal.rationale, "the last word of a dead memory holds"
    flat.processes.starter.start_one("memory")
    flat.until(lambda: flat.told() == ["red mug"], "it is recalled from the store")
    flat.until(lambda: "last seen here" in flat.ask().proposal.rationale, "the expert knows it too")


def test_a_look_at_the_empty_place_ends_it(flat):
    flat.robot.pose = (0.0, 0.0, np.pi)
    flat.until(lambda: flat.told() == [], "the place was looked at and is empty")
    flat.until(lambda: "last seen" not in flat.ask().proposal.rationale, "the expert goes there no more")


def test_places_of_another_map_and_messages_that_make_no_sense_are_not_followed(flat):
    flat.processes.kill("memory")
    publisher = flat.bed.on_executor(
        lambda: flat.bed.node.create_publisher(msg.SceneDelta, "memory/last_seen", qos.LATCHED)
    )
    seen = Primitive(0, "mug", np.array([1.5, 0.0, 0.5]), np.full(3, 0.3), "red mug")
    place = LastSeen(1, seen, time.time(), np.zeros(3))
    own = last_seen_to_msg(RememberedPlaces(MapName(1, "first"), 1, (place,)), time.time())
    other = last_seen_to_msg(RememberedPlaces(MapName(1, "other"), 1, (place,)), time.time())

    def is_followed():
        publisher.publish(own)
        return "last seen here" in flat.ask().proposal.rationale

    flat.until(is_followed, "places of this map are followed")

    def is_refused():
        publisher.publish(other)
        return flat.ask().error_code == ProposeGoal.Result.NO_PROPOSAL

    flat.until(is_refused, "places of another map are none here")
    bad = last_seen_to_msg(RememberedPlaces(MapName(1, "first"), 2, (place,)), time.time())
    bad.previous_revision = 1
    publisher.publish(bad)

    def is_counted():
        flat.ask()
        return flat.bed.count("semantic_map_expert", "last_seen.dropped.malformed") >= 1

    flat.until(is_counted, "a message that makes no sense is counted")
    flat.processes.assert_alive(besides=("memory",))
