"""Tests of the service for naming rooms, without DDS."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point

from lodestar.scene.dictionary import SceneDictionary
from lodestar_interfaces.srv import NameRegion
from lodestar_ros.region_naming import CODES, RegionNaming
from lodestar_ros.workers import refuse


@pytest.fixture
def naming(monkeypatch):
    told, kept = [], []
    monkeypatch.setattr("lodestar_ros.region_naming.ServiceWorker", lambda *_: None)
    node = SimpleNamespace(on_close=lambda close: None)
    scene = SceneDictionary()
    scene.assign_regions(np.ones((40, 40), np.uint16), (0.0, 0.0), 0.1, [(1, 16.0, (2.0, 2.0), ())])
    naming = RegionNaming(node, scene, lambda: told.append(True), lambda: kept.append(scene.names_changed))

    def call(**fields):
        response = NameRegion.Response()
        try:
            return naming.answer(NameRegion.Request(**fields), response)
        except Exception as error:
            return refuse(node, response, error, CODES)

    return SimpleNamespace(call=call, scene=scene, told=told, kept=kept)


def test_a_region_goes_by_the_operator_s_word(naming):
    response = naming.call(point=Point(x=1.0, y=1.0), label="lab")
    assert response.error_code == 0 and (response.named.id, response.named.label) == (1, "lab")
    assert response.named.named and naming.scene.regions[1].label == "lab" and naming.told == [True]
    assert naming.call(region=1, label="").named.named is False
    assert naming.kept == [1, 2], "a checkpoint is taken before the answer"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"region": 7, "label": "lab"}, NameRegion.Response.UNKNOWN_REGION),
        ({"point": Point(x=70.0), "label": "lab"}, NameRegion.Response.UNKNOWN_REGION),
        ({"region": 1, "label": "???"}, NameRegion.Response.BAD_LABEL),
    ],
)
def test_what_names_nothing_has_a_code_and_changes_nothing(naming, fields, code):
    response = naming.call(**fields)
    assert response.error_code == code and response.error_msg
    assert naming.scene.regions[1].label == "" and naming.told == naming.kept == []
