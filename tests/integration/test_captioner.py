"""Tests of captions by a vision model in a running stack; templates are used while it is slow or unavailable."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest
from waiting import PATIENCE

from integration.fakes import FakeRobot
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities
from lodestar_ros import qos
from lodestar_ros.conversions_scene import scene_from_msg

NODES = ("perception", "semantic_voxels", "scene_dictionary", "keyframes", "text_embedder")


class Endpoint:
    """Fake OpenAI-compatible server that fails once, then delays its answer until released."""

    def __init__(self):
        self.images: list[np.ndarray] = []
        self.asked = 0
        self.release = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked += 1
                if endpoint.asked == 1:
                    self.send_response(401)
                    self.end_headers()
                    return
                parts = body["messages"][-1]["content"]
                url = next(part["image_url"]["url"] for part in parts if part["type"] == "image_url")
                data = np.frombuffer(base64.b64decode(url.split(",", 1)[1]), np.uint8)
                endpoint.images.append(cv2.imdecode(data, cv2.IMREAD_COLOR))
                endpoint.release.wait(PATIENCE)
                content = json.dumps({"caption": "plain gray\ncardboard box;", "attributes": ["cardboard"]})
                choice = {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
                answer = {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m",
                    "choices": [choice],
                }
                sent = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self):
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def endpoint():
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


def box_of(bed):
    response = bed.call(
        GetEntities, "scene_dictionary/get_entities", GetEntities.Request(include_vectors=True)
    )
    found = [
        entity for entity in scene_from_msg(response.delta, response.vectors).updated if entity.label == "box"
    ]
    return found[0] if found else None


def test_the_model_is_asked_apart_from_everything_else(bed, processes, endpoint):
    pytest.importorskip("openai")
    robot = bed.on_executor(lambda: FakeRobot(bed))
    robot.caption = "box"
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    chat = {"rest": 1.0, "timeout": PATIENCE, "patience": PATIENCE + 5.0}
    endpoint_of = {"shared.endpoint.base_url": endpoint.url, "shared.endpoint.model": "m"}
    chats = {f"vision.chat.{name}": value for name, value in chat.items()}
    parameters = {"shared.vision_model": True, **endpoint_of, **chats}
    keyframes = {"store.refresh": 1.0}  # store an image every second although the robot stands
    processes.start(*NODES, parameters={"scene_dictionary": parameters, "keyframes": keyframes})
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    robot.watch(lambda: endpoint.images, "a question, after one that failed")
    assert max(endpoint.images[0].shape) <= 384
    box_of(bed)  # finds the server
    asked = processes.now()
    assert "cardboard" not in box_of(bed).caption and asked.passed() < 2.0, (
        "it answers while the model thinks"
    )
    robot.watch(lambda: len(box_of(bed).embeddings) > 0, "a vector, meanwhile")
    endpoint.release.set()
    robot.watch(lambda: box_of(bed).caption == "plain gray cardboard box", "the model's caption, cleaned")
    assert "cardboard" in box_of(bed).attributes
    bed.until(lambda: bed.count("scene_dictionary", "captions.described") >= 1, "diagnostics of it")
    assert bed.count("scene_dictionary", "captions.failed") >= 1
    processes.assert_alive()
