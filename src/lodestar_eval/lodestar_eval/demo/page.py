"""The console's page in the demo: its one-time link, and its port while the console is not there yet."""

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

_LOOK = 0.2  # s between two looks whether the console serves
_HEAD = 2.0  # s that a browser may take to send its request
_PATH = re.compile(rb"GET (/(?!/)[\w./?=&-]*) HTTP/1\.1\r\n")  # of this host: `//other` would name another
_WAITING = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lodestar</title></head><body><h1>Lodestar</h1>'
    "<p>{}</p><ul>{}</ul><p>This page comes again by itself.</p></body></html>"
)


class DemoPage:
    """Holds the port with a page that says what is waited for, until the console itself serves there.

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
        """Show what is waited for, and which parts of it are not there yet; for any text."""
        self._waits_for = _WAITING.format(escape(text), "".join(f"<li>{escape(part)}</li>" for part in parts))

    @property
    def is_handed_over(self) -> bool:
        """Return whether the console serves by now."""
        return not self._thread.is_alive()

    def close(self) -> None:
        """Give the port up."""
        self._closing.set()
        self._thread.join(3.0)

    def _serve(self) -> None:
        """Answer until the console serves, and whoever has connected here until then."""
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
        except OSError:  # none came in time
            return False
        with connection, contextlib.suppress(OSError):  # the browser may have gone
            self._answer(connection)
        return True

    def _console_serves(self) -> bool:
        path = self._folder / ADDRESS
        try:
            return path.stat().st_mtime > self._began and path.read_text().strip() == self.address
        except OSError:
            return False

    def _answer(self, connection: socket.socket) -> None:
        """Send a browser to the console once that serves, else have it wait; the link is not used up.

        Both listen at the port for a moment: what a page of the console asks for must not be lost here.
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
            "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head.encode() + body)

    def _is_of_page(self, path: bytes) -> bool:
        """Return whether the console's page asks for a part of it, once the console serves: within moments."""
        if not path.startswith((b"/static/", b"/ws/")):
            return False
        end = time.monotonic() + _HEAD
        while not (serves := self._console_serves()) and time.monotonic() < end:
            time.sleep(0.02)
        return serves


def demo_page() -> tuple[DemoPage | None, str]:
    """Return the page, or why there is none."""
    try:
        return DemoPage(), ""
    except (ServeError, UnsafeFolder, OSError) as error:
        return None, f"There is no page: {error}"
