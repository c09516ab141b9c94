"""A client that imitates a page: the protocol over real sockets."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from waiting import PATIENCE, wait_for
from websockets.sync.client import connect


class PageClient:
    """Client that logs in by a one-time link and opens sockets."""

    def __init__(self, link):
        parts = urlsplit(link)
        self.host, self.origin = parts.netloc, f"http://{parts.netloc}"
        answer = self.get(f"{parts.path}?{parts.query}")
        assert answer.status == 303, (answer.status, answer.text)
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        self.cookie_header = answer.headers["set-cookie"]

    def get(self, path, method="GET", headers=None, body=None):
        return ask(self.host, path, method, {"cookie": getattr(self, "cookie", "")} | (headers or {}), body)

    def open(self, name, **options):
        headers = {"cookie": self.cookie} | options.pop("headers", {})
        origin = options.pop("origin", self.origin)
        return connect(
            f"ws://{self.host}/ws/{name}", additional_headers=headers, origin=origin, max_size=None,
            compression=None, open_timeout=PATIENCE, ping_timeout=PATIENCE, **options,
        )  # fmt: skip


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, {k.lower(): v for k, v in response.getheaders()}
        self.body = response.read()
        self.text = self.body.decode(errors="replace")


def ask(host, path, method="GET", headers=None, body=None):
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class StateReader:
    """Reader of a state socket that keeps parts, items and replies, like a page."""

    def __init__(self, socket):
        self.socket, self.parts, self.items, self.replies, self.number = socket, {}, {}, {}, 0
        self.hello = None

    def read(self):
        message = json.loads(self.socket.recv(timeout=PATIENCE))
        kind = message["type"]
        if kind == "part":
            self.parts[message["name"]] = message["value"]
        elif kind == "delta":
            table = self.items.setdefault(message["name"], {})
            if message["previous"] == 0:
                table.clear()
            for key in message["removed"]:
                table.pop(key, None)
            table.update({item["id"]: item for item in message["changed"]})
        elif kind == "hello":
            self.hello = message
        else:
            self.replies[message["id"]] = message
        return message

    def until(self, holds):
        wait_for(
            lambda: holds(self) or (self.read(), None)[1], lambda: f"more than {self.parts.keys()}", every=0.0
        )

    def resume(self):
        """Release what this page shows as standing."""
        self.until(lambda s: s.parts.get("robot", {}).get("holds"))
        return self.request("resume", numbers=[one["number"] for one in self.parts["robot"]["holds"]])

    def request(self, kind, /, **fields):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"type": kind, "id": number, **fields}))
        self.until(lambda _: number in self.replies)
        return self.replies[number]
