"""Tests of the operator node: directives as text, clicks on the map, and a reply to each."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geometry_msgs.msg import Point, PointStamped
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from integration.surroundings import STOP_BOUND, TIMES, World, chair
from lodestar_interfaces.srv import PointOut
from lodestar_ros import qos
from lodestar_ros.client_watch import ClientConfig
from lodestar_ros.conversions import header

REPLY = "operator/reply"


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    processes.start(
        "goal_selector", "motion_gate", "operator", parameters={"goal_selector": TIMES}, operator=True
    )
    make = bed.node.create_publisher
    world.texts = bed.on_executor(lambda: make(String, "operator/directive", qos.EVENT))
    world.clicks = bed.on_executor(lambda: make(PointStamped, "clicked_point", qos.EVENT))
    bed.hear(String, REPLY, qos.HISTORY)
    bed.hear(MarkerArray, "operator/markers", qos.LATCHED)
    bed.hear(MarkerArray, "goal_selector/markers", qos.LATCHED)
    bed.next("goal_selector/heartbeat")
    bed.until(lambda: bed.diagnosis("operator"), "the operator's diagnostics")
    bed.until_heard(world.texts, world.clicks)
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.bed.forget(REPLY)
    says(world, "stop")
    reply(world, "Stopped")
    world.reset()
    world.bed.forget(REPLY)
    yield


def says(world, text):
    """Publish a text of the operator."""
    world.texts.publish(String(data=text))


def click(world, x, y, z=0.0, frame="map"):
    world.clicks.publish(PointStamped(header=header(time.time(), frame), point=Point(x=x, y=y, z=z)))


def reply(world, *words):
    """Wait for a reply that contains these words, received since the start of the test; return it."""

    def found():
        said = [message.data for _, message in world.bed.heard[REPLY]]
        return next((text for text in said if all(word in text for word in words)), None)

    return world.bed.until(
        found, f"a reply with {words}; heard {[m.data for _, m in world.bed.heard[REPLY]]}"
    )


def search(world):
    """Start a directive by text, and wait until the robot moves."""
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    says(world, "find the red chair")
    world.bed.until(lambda: world.nav.driving and world.moving(), "the robot moves")


def test_a_directive_by_text_drives_and_the_word_stop_stops_it(world):
    search(world)
    reply(world, "There")  # the explanation of the decision
    moment = world.now()
    says(world, "stop")
    reply(world, "Stopped")
    # "stop" as text must first find the action server, so its time bound is longer than that of a cancel or hold.
    world.assert_stops_after(moment, STOP_BOUND + 1.0)
    reply(world, "11005")


def test_a_second_directive_is_refused_in_words_and_the_first_goes_on(world):
    search(world)
    says(world, "find the fire extinguisher")
    assert "another directive runs" in reply(world, "11007").casefold()
    assert world.nav.driving


def test_a_click_without_a_directive_or_a_question_moves_nothing_and_says_so(world):
    world.see(chair(4, (1.5, 0.5), time.time()))
    before = len(world.nav.goals)
    click(world, 1.5, 0.5)
    assert "say first what to find" in reply(world, "No directive runs")

    def shown():
        markers = world.bed.last("operator/markers")
        texts = [marker.text for marker in markers.markers if marker.ns == "reply"] if markers else []
        return any("No directive runs" in " ".join(text.split()) for text in texts)

    world.bed.until(shown, "the reply in RViz")
    world.beat(lambda beat: not beat.motion_allowed)
    assert len(world.nav.goals) == before and not world.moving()


def test_a_click_while_it_searches_sends_it_to_the_thing_there(world):
    search(world)
    stool = chair(9, (-1.5, 1.5), time.time())
    world.see(
        stool.__class__(**{**stool.__dict__, "label": "stool", "caption": "blue stool", "attributes": ()})
    )
    world.bed.until(
        lambda: world.bed.call(PointOut, "goal_selector/point_out", far()).error_code == 11031, ""
    )
    click(world, -1.5, 1.4)
    assert "blue stool (entity 9) for the red chair" in reply(world, "I take")
    assert "no world model is there" in reply(world, "Its label stays")
    world.bed.until(
        lambda: np.hypot(*(np.array(world.nav.goals[-1][:2]) - (-1.5, 1.5))) < 1.5, "a goal that faces it"
    )


def far():
    return PointOut.Request(point=Point(x=3.9, y=-3.9))


def test_a_click_where_nothing_is_known_says_what_is_nearest(world):
    world.see(chair(4, (1.5, 0.5), time.time()))
    search(world)
    click(world, -3.0, -3.0)
    told = reply(world, "Nothing that I know lies within 0.3 m")
    assert "the nearest is a" in told and "m away; click on its box" in told
    assert world.nav.driving, "the search goes on"


@pytest.mark.parametrize(
    ("point", "frame", "words"),
    [((0.0, 0.0), "moon", "has no place on the map"), ((float("nan"), 0.0), "map", "not finite")],
)
def test_a_click_that_has_no_place_is_told_and_counted(world, point, frame, words):
    click(world, *point, frame=frame)
    reply(world, words)
    reason = "malformed" if frame == "map" else "no_transform"
    world.bed.until(
        lambda: world.bed.count("operator", f"clicked_point.dropped.{reason}") > 0, "it is counted"
    )


def test_a_click_in_another_frame_is_taken_to_the_map(world):
    click(world, 0.0, 0.0, frame="base_link")
    reply(world, "No directive runs")


@pytest.mark.parametrize(("text", "words"), [("  ", "text is empty"), ("7", "No question is open")])
def test_a_text_that_is_no_directive_is_answered(world, text, words):
    says(world, text)
    reply(world, words)


def test_words_that_are_not_understood_are_answered_and_nothing_moves(world):
    before = len(world.nav.goals)
    says(world, "\x1b[31m flurb the gizmo")
    reply(world, "11001")
    assert len(world.nav.goals) == before


def test_a_client_of_another_is_not_kept_alive_by_the_operator(world, unowned):
    """The operator is a client too, but of goals that have an owner."""
    name = "/follow_directive/_action/feedback"
    told = [info.node_name for info in world.bed.node.get_subscriptions_info_by_topic(name)]
    assert "operator" in told
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    client = unowned()
    world.bed.until(lambda: world.nav.driving and world.moving(), "the robot moves")
    end = time.monotonic() + 2 * ClientConfig.grace
    world.bed.until(lambda: time.monotonic() > end, "it goes on while its client is there")
    assert world.nav.driving
    client.kill()
    world.bed.until(lambda: not world.nav.driving, "its goal is cancelled")


def test_the_death_of_the_goal_selector_is_told(world):
    """Must run last: the goal selector is killed."""
    search(world)
    world.processes.kill("goal_selector")
    assert "hold off" in reply(world, "The goal selector is gone")
    click(world, 1.0, 1.0)
    assert world.bed.until(
        lambda: [m.data for _, m in world.bed.heard[REPLY] if "goal selector" in m.data][1:], "a second reply"
    )
