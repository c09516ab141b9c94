"""Tests of label tables of both simulators, and of invalid ones."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.conversions import BadMessage
from lodestar_ros.labels import parse_table


def test_label_tables_of_both_simulators():
    own = {"stamp": [3, 500_000_000], "labels": {"17": {"class": "chair", "caption": "red chair"}}}
    assert parse_table(json.dumps(own)) == (3.5, {17: {"class": "chair", "caption": "red chair"}})
    isaac = {"2": {"class": "desk"}, "0": {"class": "BACKGROUND"}, "time_stamp": {"sec": 3, "nanosec": 0}}
    assert parse_table(json.dumps(isaac)) == (3.0, {2: {"class": "desk", "caption": "desk"}})


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"labels": {"x": {}}, "stamp": [0, 0]}'])
def test_broken_label_tables_are_refused(text):
    with pytest.raises(BadMessage, match="label table"):
        parse_table(text)


def test_a_table_of_instances_is_refused_with_advice():
    prims = {"0": "BACKGROUND", "2": "/World/Pallet_01", "time_stamp": {"sec": 3, "nanosec": 0}}
    with pytest.raises(BadMessage, match="semantic segmentation"):
        parse_table(json.dumps(prims))
