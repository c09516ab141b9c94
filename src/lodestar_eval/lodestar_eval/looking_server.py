"""Local server of the OpenAI protocol that imitates a vision model by a function of text and images."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Answers a question, given its text and the contents of its pictures in order; returns the model's JSON object.
Look = Callable[[str, Sequence[bytes]], "dict[str, Any]"]

_CHARACTERS = 4  # characters per token
_PICTURE = 1100  # tokens per picture


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, look: Look) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.look = look
        self.asked = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer one chat request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked += 1
        text, images = _question(body["messages"])
        said = json.dumps(self.server.look(text, images))
        sent = len(text) // _CHARACTERS + _PICTURE * len(images)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": sent, "completion_tokens": len(said) // _CHARACTERS}
        answer = {"id": "x", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        data = json.dumps({**answer, "created": 0, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Suppress the server's log."""


def _question(messages: list[dict[str, Any]]) -> tuple[str, list[bytes]]:
    """Return text and pictures of the user's last message."""
    content = next(m["content"] for m in reversed(messages) if m["role"] == "user")
    if isinstance(content, str):
        return content, []
    text = " ".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, [base64.b64decode(url.partition(",")[2]) for url in urls]


@contextmanager
def looking_server(look: Look) -> Iterator[str]:
    """Serve the function `look` on a free port while the block runs; yield the address for `base_url`."""
    server = _Server(look)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
