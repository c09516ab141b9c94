"""The console's page in the demo: its one-time link, and a placeholder on its port until the console serves."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Sequence
from html import escape

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.keys import ADDRESS, console_folder, link_to, secret_of
from lodestar_console.access.places import Place, ServeError, bind

_LOOK = 0.2  # s between two checks whether the console serves
_HEAD = 2.0  # s, timeout for a browser's request
# a path on this host; `//other` would be another host
_PATH = re.compile(rb"GET (/(?!/)[\w./?=&-]*) HTTP/1\.1\r\n")
_WAITING = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lodestar</title>'
    '<link rel="icon" href="data:,"></head><body><h1>Lodestar</h1>'
    "<p>{}</p><ul>{}</ul><p>This page comes again by itself.</p></body></html>"
)


class DemoPage:
    """Holds the port and serves a waiting page until the console itself serves there.

    link: one-time, valid for a minute. parameters: of the console's node. Raises ServeError, UnsafeFolder, OSError.
    """

    def __init__(self, port: int = Place.port) -> None:
        self._folder = console_folder()
        free = bind(Place(port=port))
        self.port = int(free.getsockname()[1])
        free.close()
        self._listener = bind(Place(port=self.port), shared=True)
        self.address = f"http://127.0.0.1:{self.port}"
        self.link = link_to(self.address, secret_of(self._folder))
        self.parameters: dict[str, object] = {"port": self.port, "shared_port": True}
        self._waits_for = ""
        self.wait_for("The building is being made.")
        self._began = time.time()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="waiting-page", daemon=True)
        self._thread.start()

    def wait_for(self, text: str, parts: Sequence[str] = ()) -> None:
        """Show on the page that `text` is being waited for, with the missing parts; both are HTML-escaped."""
        self._waits_for = _WAITING.format(escape(text), "".join(f"<li>{escape(part)}</li>" for part in parts))

    def close(self) -> None:
        """Release the port."""
        self._closing.set()
        self._thread.join(3.0)

    def _serve(self) -> None:
        """Answer requests until the console serves, and then the connections that are already queued."""
        self._listener.settimeout(_LOOK)
        while not self._closing.is_set() and not self._console_serves():
            self._accept()
        self._listener.settimeout(0.0)
        while self._accept():
            continue
        self._listener.close()

    def _accept(self) -> bool:
        """Answer one connection; return whether there was one."""
        try:
            connection, _ = self._listener.accept()
        except OSError:  # no connection within the timeout
            return False
        with connection, contextlib.suppress(OSError):  # the browser may have closed the connection
            self._answer(connection)
        return True

    def _console_serves(self) -> bool:
        path = self._folder / ADDRESS
        try:
            return path.stat().st_mtime > self._began and path.read_text().strip() == self.address
        except OSError:
            return False

    def _answer(self, connection: socket.socket) -> None:
        """Redirect a browser to the console if the console serves, else answer 503 with a refresh.

        The one-time link stays unused. For a moment this socket and the console's both listen, so requests
        for parts of the console's page are redirected too.
        """
        connection.settimeout(_HEAD)
        asked = _PATH.match(connection.recv(4096))
        if asked is not None and (self._console_serves() or self._is_of_page(asked[1])):
            again = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: %b\r\n" % asked[1]
            connection.sendall(
                again + b"Cache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        body = self._waits_for.encode()
        head = (
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html; charset=utf-8\r\nRefresh: 1\r\n"
            f"Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Length: {len(body)}\r\n"
            "Content-Security-Policy: default-src 'none'; img-src data:\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head.encode() + body)

    def _is_of_page(self, path: bytes) -> bool:
        """Return whether the path belongs to the console's page and the console serves within `_HEAD` s."""
        if not path.startswith((b"/static/", b"/ws/")):
            return False
        end = time.monotonic() + _HEAD
        while not (serves := self._console_serves()) and time.monotonic() < end:
            time.sleep(0.02)
        return serves


def demo_page() -> tuple[DemoPage | None, str]:
    """Return the page and ""; or None and the reason for its absence."""
    try:
        return DemoPage(), ""
    except (ServeError, UnsafeFolder, OSError) as error:
        return None, f"There is no page: {error}"
