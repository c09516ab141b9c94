"""The web server: uvicorn on its own thread, with strict limits for unauthenticated connections."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from lodestar_console import protocol
from lodestar_console.access.door_keeper import DoorKeeper
from lodestar_console.access.places import Place, ServeError
from lodestar_console.access.visitors import STRANGER_LASTS
from lodestar_console.web.guard import App

ACCEPTED_AT_ONCE = 16  # connections accepted in one go
WAITING = 1024  # backlog of the listening socket
SWEEP_PERIOD = 1  # s between two checks for expired unauthenticated connections


class _Visit(H11Protocol):
    """One HTTP connection, registered under the session of its requests. raw: transport below TLS."""

    def __init__(self, door: DoorKeeper, raw: asyncio.Transport | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._door, self._raw = door, raw

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._raw is None:
            self._raw = transport
            self._door.visitors.come(transport, self._door.steady())

    def data_received(self, data: bytes) -> None:
        request = self.scope
        super().data_received(data)
        if self.scope is not request:  # the header of a new request is complete
            self._look()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._look()
        super().handle_websocket_upgrade(event)
        assert self._raw is not None
        if self._raw not in self._door.visitors.strangers:  # strangers get no socket, so their limits remain
            self._door.visitors.go(self._raw)

    def on_response_complete(self) -> None:
        if self._raw in self._door.visitors.strangers:  # strangers get one response per connection
            self.transport.close()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._raw is not None
        self._door.visitors.go(self._raw)
        super().connection_lost(exc)

    def _look(self) -> None:
        """Register the connection under the session of the current request."""
        assert self._raw is not None
        scope = self.scope
        query = scope["query_string"].decode("latin-1")
        name = self._door.known_as(Headers(raw=list(scope["headers"])), scope["path"], query)
        if name:
            self._door.visitors.know(self._raw, name)


class _Handshake(asyncio.Protocol):
    """A connection during the TLS handshake; counts as unauthenticated, with the same limits."""

    def __init__(self, door: DoorKeeper, context: ssl.SSLContext, visit: Callable[..., _Visit]) -> None:
        self._door, self._context, self._visit = door, context, visit
        self._early = b""
        self._lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self._door.visitors.come(transport, self._door.steady())
        self._task = asyncio.ensure_future(self._agree(transport))

    def data_received(self, data: bytes) -> None:
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True

    async def _agree(self, raw: asyncio.Transport) -> None:
        secure = None
        with suppress(OSError, asyncio.TimeoutError):
            secure = await asyncio.get_running_loop().start_tls(
                raw, self, self._context, server_side=True, ssl_handshake_timeout=STRANGER_LASTS
            )
        if secure is None or self._lost:
            self._door.visitors.go(raw)
            raw.abort()
            return
        visit = self._visit(raw=raw)
        visit.connection_made(secure)
        secure.set_protocol(visit)
        if self._early:
            visit.data_received(self._early)


class WebServer:
    """Serve an ASGI application on a thread until closed."""

    def __init__(self, app: App, listener: socket.socket, place: Place, door: DoorKeeper) -> None:
        self._door = door
        self._context = tls_context(place) if place.certificate else None
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            http=self._meet,  # type: ignore[arg-type]
            ws="websockets-sansio",
            ws_max_size=protocol.MAX_MESSAGE,
            ws_ping_interval=10.0,
            ws_ping_timeout=20.0,
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=16 * 1024,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=1,
            access_log=False,  # URLs of one-time links must not be logged
            log_level="error",
            log_config=None,
            server_header=False,
            proxy_headers=False,  # clients must not choose their address
            lifespan="on",
            backlog=ACCEPTED_AT_ONCE,
            callback_notify=self._sweep,
            timeout_notify=SWEEP_PERIOD,
        )
        self._server = uvicorn.Server(config)
        self._listener = listener
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="console-web", daemon=True)

    def start(self, patience: float = 10.0) -> None:
        """Start the thread, and wait until it serves, at most `patience` s. Raises ServeError."""
        self._thread.start()
        waited = threading.Event()
        for _ in range(int(patience / 0.02)):
            if self._server.started or not self._thread.is_alive():
                break
            waited.wait(0.02)
        if not self._server.started:
            raise ServeError(f"the web server did not start: {self._failure or 'no reason was told'}")
        self._listener.listen(WAITING)

    @property
    def is_alive(self) -> bool:
        """Return whether the server thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Close all connections and end the thread."""
        self._server.should_exit = True
        self._thread.join(3.0)
        self._listener.close()

    def _meet(self, **given: Any) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        visit = partial(_Visit, self._door, **given)
        return visit() if self._context is None else _Handshake(self._door, self._context, visit)

    async def _sweep(self) -> None:
        self._door.visitors.sweep(self._door.steady())

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._listener]))
        except BaseException as error:
            self._failure = error


def tls_context(place: Place) -> ssl.SSLContext:
    """Return a TLS context with the place's certificate. Raises ServeError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(place.certificate, place.key or None)
    except (OSError, ssl.SSLError) as error:
        names = ", ".join(str(Path(name)) for name in (place.certificate, place.key) if name)
        raise ServeError(f"the certificate cannot be used ({names}): {error}") from error
    return context
