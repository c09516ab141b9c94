"""The server of the application: uvicorn on a thread of its own, with patience for nobody who sends half a request."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from lodestar_console import protocol
from lodestar_console.access.places import Place, ServeError
from lodestar_console.web.guard import App

HEAD_PATIENCE = 5.0  # s in which the head of a request must have come
MOST_CONNECTIONS = 200


class _PatientProtocol(H11Protocol):
    """Closes a connection whose next request does not come whole in time, and connections beyond the most."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._deadline = self.loop.call_later(HEAD_PATIENCE, self._give_up)

    def data_received(self, data: bytes) -> None:
        requests = self.scope
        super().data_received(data)
        if self.scope is not requests:  # the head of another request is whole
            self._end_deadline()
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._deadline = self.loop.call_later(HEAD_PATIENCE, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        super().connection_lost(exc)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.transport.get_protocol() is self:  # no socket was made of it
            self.transport.abort()


class WebServer:
    """Serves an application until it is closed."""

    def __init__(self, app: App, listener: socket.socket, place: Place) -> None:
        secure: dict[str, Any] = {}
        if place.certificate:
            check_certificate(place)
            secure = {"ssl_certfile": place.certificate, "ssl_keyfile": place.key or None}
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            http=_PatientProtocol,
            ws="websockets-sansio",
            ws_max_size=protocol.MAX_MESSAGE,
            ws_ping_interval=10.0,
            ws_ping_timeout=20.0,
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=16 * 1024,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=1,
            access_log=False,  # the address of a one-time link stands in no log
            log_level="error",
            log_config=None,
            server_header=False,
            lifespan="on",
            **secure,
        )
        self._server = uvicorn.Server(config)
        self._listener = listener
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="console-web", daemon=True)

    def start(self, patience: float = 10.0) -> None:
        """Return when it serves. Raises ServeError."""
        self._thread.start()
        waited = threading.Event()
        for _ in range(int(patience / 0.02)):
            if self._server.started or not self._thread.is_alive():
                break
            waited.wait(0.02)
        if not self._server.started:
            raise ServeError(f"the web server did not start: {self._failure or 'no reason was told'}")

    @property
    def is_alive(self) -> bool:
        """Return whether it serves."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End all connections."""
        self._server.should_exit = True
        self._thread.join(3.0)
        self._listener.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._listener]))
        except BaseException as error:
            self._failure = error


def check_certificate(place: Place) -> None:
    """Check the files of TLS. Raises ServeError."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(place.certificate, place.key or None)
    except (OSError, ssl.SSLError) as error:
        names = ", ".join(str(Path(name)) for name in (place.certificate, place.key) if name)
        raise ServeError(f"the certificate cannot be used ({names}): {error}") from error
