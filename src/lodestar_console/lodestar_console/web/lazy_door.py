"""The door for agents at `/mcp`, which is imported when the first agent with a token comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

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
    """The routes of the door. requests: set when the application is made."""

    def __init__(self, hub: Hub, journal: Journal, address: str) -> None:
        self.requests: Requests | None = None
        self._hub, self._journal, self._address = hub, journal, address
        self._app: asyncio.Future[App] | None = None
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def routes(self) -> tuple[BaseRoute, ...]:
        """Return the routes."""
        return (Route("/mcp", self, methods=["GET", "POST", "DELETE"]),)

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """End the door with the server."""
        try:
            yield
        finally:
            self._end.set()
            if self._task is not None:
                await asyncio.gather(self._task, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without a good token, before anything is read or imported; else let the door answer."""
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
        await app(scope, receive, send)

    async def _opened(self) -> App:
        """Return the door's application, begun when it is first asked for. Raises ImportError."""
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._task = asyncio.ensure_future(self._run(self._app))
        return await asyncio.shield(self._app)

    async def _run(self, opened: asyncio.Future[App]) -> None:
        """Import the door and serve it until the server ends."""
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
    """Import the door; it takes a second."""
    from lodestar_console.web.door import Door

    return Door
