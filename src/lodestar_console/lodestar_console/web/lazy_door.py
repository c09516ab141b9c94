"""The route `/mcp` for agents, which imports the MCP server at the first request with a valid token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from lodestar_console.web.guard import App, Receive, Scope, Send
from lodestar_console.web.hub import Hub
from lodestar_console.web.journal import Journal
from lodestar_console.web.requests import Requests

if TYPE_CHECKING:
    from lodestar_console.web.door import Door

_NOT_INSTALLED = "The door needs the package mcp: make setup, or pip install 'mcp>=2,<3'.\n"


class LazyDoor:
    """Route of the MCP server, which is created on demand. requests: set by `make_app`."""

    def __init__(self, hub: Hub, journal: Journal, address: str) -> None:
        self.requests: Requests | None = None
        self._hub, self._journal, self._address = hub, journal, address
        self._app: asyncio.Future[App] | None = None
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def routes(self) -> tuple[BaseRoute, ...]:
        """Return the route `/mcp`."""
        return (Route("/mcp", self, methods=["GET", "POST", "DELETE"]),)

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Stop the MCP server when this context ends."""
        try:
            yield
        finally:
            self._end.set()
            if self._task is not None:
                await asyncio.gather(self._task, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with 401 without a valid token, before reading or importing anything; else pass the request on."""
        address = str((scope.get("client") or ("",))[0])
        door = self._hub.door
        if door.agent_of(Headers(scope=scope)) is None:
            known = door.entries.allow(address, door.steady())
            answer = PlainTextResponse("A bearer token is needed.\n", 401 if known else 429)
            answer.headers["www-authenticate"] = "Bearer"
            await answer(scope, receive, send)
            return
        try:
            app = await self._opened()
        except ImportError:
            await PlainTextResponse(_NOT_INSTALLED, 503)(scope, receive, send)
            return
        await self._serve(app, scope, receive, send)

    async def _serve(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; if its client disconnects, cancel the request and shorten the agent's lease."""
        whole = asyncio.Event()  # set when the request was read completely

        async def read() -> Any:
            message = await receive()
            if not message.get("more_body", False):
                whole.set()
            return message

        async def leave() -> None:
            await whole.wait()
            while (await receive())["type"] != "http.disconnect":
                pass

        serving, leaving = asyncio.ensure_future(app(scope, read, send)), asyncio.ensure_future(leave())
        try:
            await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
            who, door = self._hub.door.agent_of(Headers(scope=scope)), self._hub.door
            if not serving.done() and who is not None:
                door.lease.leave(who.id, door.steady())
        finally:
            leaving.cancel()
            if not serving.done():
                serving.cancel()
                await asyncio.wait((serving,))
        if not serving.cancelled():
            serving.result()

    async def _opened(self) -> App:
        """Return the MCP server's ASGI application; start it at the first call. Raises ImportError."""
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._task = asyncio.ensure_future(self._run(self._app))
        return await asyncio.shield(self._app)

    async def _run(self, opened: asyncio.Future[App]) -> None:
        """Import the MCP server, run it until `life` ends, and complete `opened` with its application."""
        try:
            door_of = await asyncio.to_thread(_load)
            assert self.requests is not None
            made = door_of(self._hub, self._journal, self.requests, self._address)
            async with made.life() as app:
                opened.set_result(app)
                await self._end.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)


def _load() -> type[Door]:
    """Import and return the class `Door`, which takes about a second."""
    from lodestar_console.web.door import Door

    return Door
