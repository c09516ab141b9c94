"""Scripted OpenAI-compatible server on a free port."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(content, usage=(10, 5)):
    """Return the body of an answer with this content."""
    body = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
    }  # fmt: skip
    if usage is not None:
        body["usage"] = dict(zip(("prompt_tokens", "completion_tokens"), usage), total_tokens=sum(usage))
    return json.dumps(body)


class Server(ThreadingHTTPServer):
    """Ignores clients that disconnect before the answer, as some tests do."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ChatServer:
    """Answers requests in turn by `script`; the last entry repeats.

    An entry is an answer's content (str), (status, body, headers), or one of "cut", "silent", "drip" as ("do", name).
    """

    def __init__(self, script):
        self.script, self.requests, self.headers, self.times = list(script), [], [], []
        self.released = threading.Event()
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner._serve(self, body)

            def log_message(self, *args):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def _serve(self, handler, body):
        with self._lock:
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(body)
            self.headers.append({name.casefold(): value for name, value in handler.headers.items()})
            self.times.append(time.monotonic())
        if callable(step):
            step = step(body)
        if isinstance(step, str):
            self._send(handler, 200, completion(step))
        elif step[0] == "do":
            getattr(self, f"_{step[1]}")(handler)
        else:
            self._send(handler, *step)

    def _send(self, handler, status, body, headers=None):
        data = body if isinstance(body, bytes) else body.encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _silent(self, handler):
        self.released.wait(20.0)
        handler.close_connection = True

    def _cut(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"choices": [')
        handler.close_connection = True

    def _drip(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        try:
            while not self.released.wait(0.02):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        except OSError:
            self.released.set()  # the client has disconnected

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def chat_server(*script) -> Iterator[ChatServer]:
    """Yield a server that is closed afterwards."""
    server = ChatServer(script)
    try:
        yield server
    finally:
        server.close()
