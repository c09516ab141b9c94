"""Tests of `changes`, which compares a saved map with a running scene and publishes the changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "lodestar" / "test" / "scene"))
from session_builders import save, today, yesterday

from integration.commands import Command
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities
from lodestar_ros import qos
from lodestar_ros.changes import EVENTS, EXIT_GONE
from lodestar_ros.conversions_scene import scene_to_msg

SERVICE = "scene_dictionary/get_entities"


@pytest.fixture
def command():
    running = []

    def start(*arguments):
        running.append(Command("lodestar_ros.changes", *arguments))
        return running[-1]

    yield start
    for one in running:
        one.kill()


@pytest.fixture
def folder(tmp_path):
    return str(save(yesterday(), tmp_path / "map"))


def serve(bed, scene):
    """Create the service of a scene dictionary that answers with a scene; return it."""

    def answer(request, response):
        delta, until = scene.delta_since(request.since_revision, request.since_id, request.page_size)
        response.delta, response.vectors = scene_to_msg(delta, request.include_vectors)
        response.until_id = until.id
        return response

    return bed.on_executor(lambda: bed.node.create_service(GetEntities, SERVICE, answer))


def test_without_a_stack_it_says_where_it_looked(command, folder):
    told = command(folder)
    assert told.ends() == EXIT_GONE, told.text
    assert "scene_dictionary did not answer" in told.text and "ROS_DOMAIN_ID" in told.text


def test_a_running_scene_is_compared_and_the_changes_are_told(bed, command, folder):
    server = serve(bed, today())
    bed.hear(msg.WorldEvent, EVENTS, qos.EVENT)
    told = command(folder, "--hours", "20", "--tell")
    assert told.ends() == 0, told.text
    assert "2 changes in 20 hours:" in told.text and "The laptop (2) is gone" in told.text
    bed.until(lambda: len(bed.heard[EVENTS]) == 2, "both events")
    assert [event.kind for _, event in bed.heard[EVENTS]] == ["MOVED", "GONE"]
    bed.on_executor(lambda: bed.node.destroy_service(server))


def test_a_scene_of_another_map_is_refused(bed, command, folder):
    other = today()
    other.session_id = "another"
    server = serve(bed, other)
    told = command(folder)
    assert told.ends() == 1, told.text
    assert "different maps" in told.text
    bed.on_executor(lambda: bed.node.destroy_service(server))
