"""Client of the web console without a browser: logs in by a link, reads streams, and can stop the robot."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import threading
import time
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

_OPENINGS = 5  # attempts to open a socket


class ConsolePage:
    """Session of a logged-in client. link: one-time link to a console on this machine."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self.host = parts.netloc
        connection = http.client.HTTPConnection(self.host, timeout=10.0)
        connection.request("GET", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        if answer.status != 303:
            raise ConnectionError(f"the console answered the link with {answer.status}")
        self._cookie = (answer.getheader("set-cookie") or "").split(";")[0]
        connection.close()

    def get(self, path: str) -> bytes:
        """Return the body of a GET request. Raises ConnectionError for any status but 200."""
        connection = http.client.HTTPConnection(self.host, timeout=10.0)
        connection.request("GET", path, headers={"cookie": self._cookie})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status != 200:
            raise ConnectionError(f"{path}: {answer.status}")
        return data

    def open(self, name: str) -> ClientConnection:
        """Open a websocket of the page; retries while the port is being handed over."""
        for attempt in range(_OPENINGS):
            try:
                return self._connect(name)
            except InvalidStatus:
                if attempt + 1 == _OPENINGS:
                    raise
                time.sleep(0.2)
        raise AssertionError("there is no other end")

    def _connect(self, name: str) -> ClientConnection:
        return connect(  # type: ignore[call-overload, no-any-return]
            f"ws://{self.host}/ws/{name}",
            additional_headers={"cookie": self._cookie},
            origin=f"http://{self.host}",
            max_size=None,
            compression=None,
        )

    def hang(self) -> socket.socket:
        """Return an open websocket of map and camera data with all topics requested, which nobody reads."""
        host, port = self.host.split(":")
        dead = socket.create_connection((host, int(port)))
        key = base64.b64encode(os.urandom(16)).decode()
        dead.sendall(
            f"GET /ws/view HTTP/1.1\r\nHost: {self.host}\r\nOrigin: http://{self.host}\r\nCookie: {self._cookie}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        body = b'{"want": {"cloud": true, "camera": true, "hz": 10}}'
        # a websocket text frame, masked with zeros
        dead.sendall(bytes([0x81, 0x80 | len(body), 0, 0, 0, 0]) + body)
        return dead


class Puller:
    """Client that reads the websocket of map and camera data on a thread until `close`.

    received: number of bytes so far.
    """

    def __init__(self, page: ConsolePage, *, cloud: bool = True, camera: bool = True) -> None:
        self.received = self.frames = 0
        self._socket = page.open("view")
        self._socket.send(json.dumps({"want": {"cloud": cloud, "grid": True, "camera": camera, "hz": 5}}))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for frame in self._socket:
                self.received += len(frame)
                self.frames += 1
        except OSError:
            return

    def close(self) -> None:
        """Close the websocket and stop the thread."""
        self._socket.close()
        self._thread.join(2.0)


class StatePage:
    """Client of the websocket of states and requests. parts: latest state by name."""

    def __init__(self, page: ConsolePage) -> None:
        self.parts: dict[str, Any] = {}
        self.items: dict[str, int] = {}  # number of items received so far, by name of a growing part
        self.received = self._number = 0
        self._replies: dict[int, Any] = {}
        self._socket = page.open("state")

    def __enter__(self) -> StatePage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._socket.close()

    def read(self, seconds: float) -> bool:
        """Receive and apply the next message; return whether one came in time."""
        try:
            text = self._socket.recv(timeout=seconds)
        except TimeoutError:
            return False
        self.received += len(text)
        message = json.loads(text)
        if message["type"] == "part":
            self.parts[message["name"]] = message["value"]
        elif message["type"] == "delta":
            known = 0 if message["previous"] == 0 else self.items.get(message["name"], 0)
            self.items[message["name"]] = known + len(message["changed"])
        elif message["type"] == "reply":
            self._replies[message["id"]] = message
        return True

    def request(self, kind: str, seconds: float = 10.0, **fields: Any) -> Any:
        """Send a request and return its reply. Raises TimeoutError."""
        self._number += 1
        self._socket.send(json.dumps({"type": kind, "id": self._number, **fields}))
        end = time.monotonic() + seconds
        while self._number not in self._replies:
            if not self.read(max(end - time.monotonic(), 0.0)):
                raise TimeoutError(f"no reply to {kind}")
        return self._replies.pop(self._number)
