"""Tests of queries parsed by a language model if configured, with the grammar as fallback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lodestar_interfaces.action import QueryScene

GRAPH = {
    "variables": [{"phrase": "lamp", "category": "lamp"}],
    "predicates": [{"name": "HasAttribute", "arguments": [0], "value": "tallest", "negated": False}],
}


@pytest.fixture(scope="module")
def endpoint():
    """Yield a fake OpenAI-compatible server that returns a query graph for a lamp, else invalid text."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][-1]["content"])
            words = json.dumps(GRAPH) if "lamp" in asked[-1] else "I would rather not."
            message = {"role": "assistant", "content": words}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            answer = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_model_reads_and_the_grammar_stands_in_for_it(bed, processes, endpoint):
    pytest.importorskip("openai")
    url, asked = endpoint
    parameters = {
        "shared.language_model": True,
        "shared.endpoint.base_url": url,
        "shared.endpoint.model": "m",
    }
    processes.start("scene_dictionary", parameters={"scene_dictionary": parameters})
    queries = bed.action(QueryScene, "scene_dictionary/query")
    for text in ("the lamp that towers over all", "the mug on the desk"):
        result = queries.result(QueryScene.Goal(text=text))
        assert result.error_code == QueryScene.Result.NO_ENTITIES, result.error_msg
    assert asked[0] == "the lamp that towers over all"
    assert any("the mug on the desk" in one for one in asked)
    bed.until(
        lambda: "the grammar reads the query" in processes.log("scene_dictionary"), "the reason in the log"
    )
    refused = queries.result(QueryScene.Goal(text="?!"))
    assert refused.error_code == QueryScene.Result.NOT_UNDERSTOOD
    processes.assert_alive()
