"""Tests of answers by a vision model from pictures that a running memory selects, outlines and annotates."""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "lodestar" / "test" / "models"))

from chat_server import chat_server
from waiting import wait_for

from integration.street import Street, thing
from lodestar_interfaces import msg, srv
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros import qos
from lodestar_ros.conversions import header

pytestmark = pytest.mark.slow

pytest.importorskip("openai")

LISTED = re.compile(r"^k(\d+): .*$", re.MULTILINE)


def user_of(body):
    """Return the text and the images of a request."""
    content = body["messages"][1]["content"]
    if isinstance(content, str):
        return content, []
    text = next(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, [base64.b64decode(url.split(",", 1)[1]) for url in urls]


def looks(body):
    """Return the fake model's reply: a caption for a segment; for questions, a claim about the first picture."""
    if "caption" in json.dumps(body.get("response_format", {})):
        return json.dumps({"caption": "A brown table in a hall."})
    listed = LISTED.findall(user_of(body)[0])
    claim = {"text": "A green stapler lies there.", "evidence": [f"k{i}" for i in listed[:1]], "thing": "stapler",
             "place": None, "seconds_ago": None, "number": None}  # fmt: skip
    return json.dumps({"calls": [], "claims": [claim] if listed else [], "yes": None})


def pixels(image):
    return cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR).astype(int)


def test_pictures_of_what_is_meant_and_of_frontiers_reach_the_model_with_the_outlines_of_masks(
    bed, processes, tmp_path
):
    with chat_server(looks) as server:
        street = Street(bed, processes, tmp_path / "memory")
        street.known = (
            thing(1, "mug", "red mug", (2.6, 0.5, 0.5)),
            thing(2, "table", "brown table", (2.6, -0.4, 0.4), 0.6),
        )
        street.robot.pose = (-1.0, 0.0, 0.0)
        frontiers = bed.on_executor(
            lambda: bed.node.create_publisher(msg.FrontierArray, "frontier_expert/frontiers", qos.LATCHED)
        )
        street.start("keyframes", **{
            "shared.language_model": True, "shared.vision_model": True, "agent.sure": 1.1, "agent.seconds": 100.0,
            "shared.endpoint.base_url": server.url, "shared.endpoint.model": "m",
            "agent.chat.rest": 0.0, "agent.chat.retries.tries": 0,
        })  # fmt: skip
        street.look_until(lambda: street.count("images.known") >= 1, "the first keyframe", image=True)
        street.walk(0.4)
        street.look_until(lambda: street.count("snapshots") >= 1, "a snapshot", image=True)
        for turned in np.linspace(0.0, np.pi, 8):  # turn away from all known objects
            street.robot.pose = (0.4, 0.0, float(turned))
            street.see(image=True)
            time.sleep(0.2)

        def stored():
            request = srv.ListKeyframes.Request(page_size=50)
            return bed.call(srv.ListKeyframes, "keyframes/list", request).keyframes

        def bare():
            return [one for one in stored() if not one.instances]

        street.look_until(bare, "an image without things", image=True)
        empty, known = bare()[-1], {one.id: one for one in stored()}
        street.look_until(lambda: street.count("images.known") >= len(known), "its record")
        frontier = msg.Frontier(id=1, keyframe_id=empty.id, reachable=True, information_gain=5.0)
        frontiers.publish(msg.FrontierArray(header=header(time.time(), "map"), frontiers=[frontier]))

        def answered():
            """The answer, text and images of a question after the memory has heard of the frontier."""
            result = street.ask("what is lying on the brown table?")
            asked = (user_of(body) for body in reversed(server.requests))
            text, images = next((one for one in asked if one[0].startswith("Question:")), ("", []))
            return (result, text, images) if "at a frontier" in text else None

        result, text, images = wait_for(answered, "a question with a picture of the frontier", every=1.0)
        assert result.error_code == AnswerQuestion.Result.NONE
        assert "A model sees this in a picture" in result.answer and "stapler" in result.names
        lines = {int(line.group(1)): line.group(0) for line in LISTED.finditer(text)}
        assert len(images) == len(lines) and "at a frontier" in lines[empty.id]
        shown = dict(zip(lines, images))
        first = known[next(iter(lines))]
        (box,) = (one.image_box for one in first.instances if one.instance_id == 2)
        raw = bed.call(srv.GetKeyframe, "keyframes/get", srv.GetKeyframe.Request(id=first.id)).image.data
        changed = np.abs(pixels(shown[first.id]) - pixels(bytes(raw))).max(axis=2) > 50
        corners = np.array(box.outline).reshape(-1, 2)
        sides = (corners + np.roll(corners, -1, axis=0)) // 2
        assert all(changed[y - 2 : y + 3, x - 2 : x + 3].any() for x, y in sides), "the diamond is drawn"
        right, bottom = box.x + box.width - 1, box.y + box.height - 1
        assert not changed[bottom - 2 : bottom + 1, right - 2 : right + 1].any(), "and no rectangle"
