"""Tests of the recorder: published messages are in the bag; an incomplete bag raises an error that names the gap."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String
from waiting import wait_for

from lodestar_eval.live.parity.recorder import TopicRecorder
from lodestar_eval.live.parity.recording import LiveRecording, MessageBag
from lodestar_eval.live.parity.topics import DECISION, LABEL_TABLE, TOPICS
from lodestar_eval.recordings import BadRecording
from lodestar_interfaces.msg import Decision
from lodestar_ros import qos
from lodestar_ros.bag_files import define

pytestmark = pytest.mark.ros


def test_every_type_of_the_topics_has_a_definition():
    store = get_typestore(Stores.LATEST)
    define(store, [topic.type_name for topic in TOPICS])
    assert all(topic.type_name in store.types for topic in TOPICS)


def test_what_is_published_is_in_the_bag(tmp_path, domain):
    by_name = {topic.name: topic for topic in TOPICS}
    chosen = [by_name[LABEL_TABLE], by_name[DECISION]]
    recorder = TopicRecorder(domain, tmp_path / "bag", chosen)
    context = Context()
    rclpy.init(context=context)
    node = Node("talker", context=context)
    table = node.create_publisher(String, LABEL_TABLE, qos.EVENT)
    decisions = node.create_publisher(Decision, DECISION, qos.EVENT)
    wait_for(
        lambda: min(table.get_subscription_count(), decisions.get_subscription_count()) > 0,
        "the recorder's subscriptions",
    )
    for number in range(3):
        table.publish(String(data=str(number)))
    decisions.publish(Decision(epoch=7, chosen="frontier"))
    wait_for(lambda: sum(recorder.counts.values()) >= 4, lambda: f"more than {dict(recorder.counts)}")
    recorder.close()
    node.destroy_node()
    context.try_shutdown()
    assert recorder.errors == []
    with pytest.raises(BadRecording, match=r"/clock.*/points.*record these topics too"):
        LiveRecording(tmp_path / "bag")
    heard = list(MessageBag(tmp_path / "bag").messages(LABEL_TABLE, DECISION))
    assert [message.data for topic, message in heard if topic == LABEL_TABLE] == ["0", "1", "2"]
    assert [message.epoch for topic, message in heard if topic == DECISION] == [7]


def test_what_is_no_bag_is_refused_with_its_name(tmp_path):
    (tmp_path / "bag").mkdir()
    with pytest.raises(BadRecording, match=r"bag is no bag that can be read"):
        LiveRecording(tmp_path / "bag")
