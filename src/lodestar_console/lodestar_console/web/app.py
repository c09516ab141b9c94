"""The web application: pages, pictures and sockets."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route, WebSocketRoute

from lodestar_console import protocol
from lodestar_console.access.keys import LinkRefused
from lodestar_console.access.sessions import Session
from lodestar_console.web.guard import App, Guard
from lodestar_console.web.hub import Hub
from lodestar_console.web.journal import Journal
from lodestar_console.web.pictures import PictureShelf
from lodestar_console.web.requests import Requests
from lodestar_console.web.sockets import Sockets
from lodestar_console.web.stop_desk import NO_ANSWER

log = logging.getLogger("lodestar.console")
STATIC = Path(__file__).resolve().parents[1] / "static"
UPLOAD_PATIENCE = 30.0  # s within which an upload must be complete
_MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_NUMBER = re.compile(r"[0-9]{1,18}")
_NODE = re.compile(r"[a-z][a-z0-9_]{0,60}")

_NO_SESSION = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lodestar</title>
<link rel="icon" href="/static/icon.svg"></head><body>
<h1>Lodestar</h1><p>{}</p><p>To come in, make a link on the robot's computer and open it within a minute:</p>
<pre>python -m lodestar_console.link</pre></body></html>"""


class Pages:
    """HTTP handlers of the console."""

    def __init__(self, hub: Hub, journal: Journal, pictures: PictureShelf) -> None:
        self._hub, self._journal, self._pictures = hub, journal, pictures

    def routes(self) -> list[BaseRoute]:
        """Return the HTTP routes."""
        return [
            Route("/", self.page),
            Route("/enter", self.enter),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/alive", self.alive),
            Route("/static/{name}", self.static),
            Route("/keyframes/{number}.jpg", self.keyframe),
            Route("/logs/{node}", self.log),
            Route("/journal", self.journal),
            Route("/pictures", self.upload, methods=["POST"]),
            Route("/stop", self.stop, methods=["POST"]),
        ]

    def _session(self, request: Request) -> Session | None:
        return self._hub.door.session_of(request.headers)

    async def alive(self, _: Request) -> Response:
        """Answer with a constant text; a liveness check without session."""
        return PlainTextResponse("lodestar console\n")

    async def page(self, request: Request) -> Response:
        """Return the page's HTML, which contains no data; 401 without a session."""
        if self._session(request) is None:
            return HTMLResponse(_NO_SESSION.format("You have no session here."), 401)
        # navigation by a person, not a check by an open page
        if request.headers.get("sec-fetch-mode") == "navigate":
            self._hub.door.renew(request.headers)
        index = STATIC / "index.html"
        if not index.is_file():
            return PlainTextResponse("The page is not built: make console\n", 503)
        return FileResponse(index, headers={"cache-control": "no-store"})

    async def enter(self, request: Request) -> Response:
        """Redeem a one-time link: set a session cookie and redirect to the page."""
        door = self._hub.door
        address = request.client.host if request.client else ""
        try:
            role = await asyncio.to_thread(
                door.links.redeem, request.query_params.get("key", ""), door.wall()
            )
        except LinkRefused as refusal:
            if not door.entries.allow(address, door.steady()):  # counts failed attempts only
                return HTMLResponse(_NO_SESSION.format("Too many attempts; wait a minute."), 429)
            return HTMLResponse(_NO_SESSION.format(refusal), 401)
        except OSError as error:  # disk full: a key that cannot be marked as used is refused
            log.error("the use of a link cannot be noted: %s", error)
            return HTMLResponse(_NO_SESSION.format("The robot's disk takes nothing: free some space."), 503)
        cookie, _ = door.sessions.begin(role, door.wall())
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            door.cookie, cookie, path="/", httponly=True, samesite="strict", secure=door.origins.secure
        )
        return answer

    async def leave(self, request: Request) -> Response:
        """End the session of the request."""
        if self._hub.door.origins.origin_problem(request.headers, required=True):
            return PlainTextResponse("The request names no Origin.\n", 403)
        self._hub.door.end(request.headers)
        return PlainTextResponse("left\n")

    async def static(self, request: Request) -> Response:
        """Return a static file of the page."""
        name = request.path_params["name"]
        path = STATIC / name
        if path.parent != STATIC or path.suffix not in _MEDIA or not path.is_file():
            return PlainTextResponse("There is no such file.\n", 404)
        return FileResponse(path, media_type=_MEDIA[path.suffix], headers={"cache-control": "no-cache"})

    async def keyframe(self, request: Request) -> Response:
        """Return a keyframe's image, with instance outlines if ``outline=1``."""
        if self._session(request) is None:
            return PlainTextResponse("no session\n", 401)
        query, number = request.query_params, request.path_params["number"]
        picture = None
        if _NUMBER.fullmatch(number):
            session, outlined = query.get("session", "")[:80], query.get("outline") == "1"
            picture = await self._hub.stack.keyframe(int(number), session, outlined)
        if picture is None:
            return PlainTextResponse("This image is gone.\n", 404)
        return Response(picture.data, media_type=picture.media_type)

    async def log(self, request: Request) -> Response:
        """Return the last lines of a node's log as plain text."""
        if self._session(request) is None:
            return PlainTextResponse("no session\n", 401)
        node = request.path_params["node"]
        lines = request.query_params.get("lines", "200")
        number = min(int(lines), 5000) if lines.isdecimal() and len(lines) < 6 else 200
        text = await self._hub.stack.log(node, number) if _NODE.fullmatch(node) else None
        if text is None:
            return PlainTextResponse("There is no log of this node.\n", 404)
        return PlainTextResponse(text)

    async def journal(self, request: Request) -> Response:
        """Return the last 1000 lines of the journal, one JSON value per line."""
        if self._session(request) is None:
            return PlainTextResponse("no session\n", 401)
        return PlainTextResponse(await asyncio.to_thread(self._journal.tail, 1000))

    async def stop(self, request: Request) -> Response:
        """Send STOP and return the motion gate's answer; for a page whose STOP socket does not respond."""
        session, origins = self._session(request), self._hub.door.origins
        if session is None or origins.origin_problem(request.headers, required=True):
            return JSONResponse({"stop": "refused", "text": "no session"}, 401)
        sent = await self._hub.stop.press(session.name)
        self._hub.door.renew(request.headers)
        self._journal.note_stop(session)
        held = await sent.is_held()
        told = protocol.StopReply(
            stop="held" if held else "refused", at=self._hub.board.now(), text="" if held else NO_ANSWER
        )
        return Response(protocol.encode(told), media_type="application/json")

    async def upload(self, request: Request) -> Response:
        """Store an uploaded picture of a target; return its id as JSON."""
        session, origins = self._session(request), self._hub.door.origins
        if session is None or origins.origin_problem(request.headers, required=True):
            return JSONResponse({"error": "no session"}, 401)
        if session.role != "command":
            return JSONResponse({"error": f"Your role is {session.role}, which may not do this."}, 403)
        self._hub.door.renew(request.headers)
        try:
            data = await asyncio.wait_for(_body(request, protocol.MAX_PICTURE), UPLOAD_PATIENCE)
            return JSONResponse({"picture": self._pictures.put(data, session.id)})
        except asyncio.TimeoutError:
            return JSONResponse({"error": "The picture did not come in time."}, 408)
        except OverflowError:
            limit = protocol.MAX_PICTURE >> 20
            return JSONResponse({"error": f"The picture is larger than {limit} MiB; make it smaller."}, 413)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 415)


async def _body(request: Request, most: int) -> bytes:
    """Return a request's body. Raises OverflowError as soon as it exceeds `most` bytes."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > most:
        raise OverflowError
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise OverflowError
    return bytes(data)


class Annex(Protocol):
    """Additional routes of the web application, such as the tools for agents. requests: set by `make_app`."""

    requests: Requests | None

    @property
    def routes(self) -> tuple[BaseRoute, ...]: ...

    def life(self) -> AbstractAsyncContextManager[None]:
        """Return the context manager of the routes' resources; it is open while the server runs."""


def make_app(hub: Hub, journal: Journal, annex: Annex | None = None) -> tuple[App, Requests]:
    """Return the ASGI application, and the object that carries out the requests of its pages."""
    pictures = PictureShelf()
    requests = Requests(hub, journal, pictures)
    if annex is not None:
        annex.requests = requests
    sockets = Sockets(hub, requests, journal)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.ensure_future(hub.run())
        try:
            async with annex.life() if annex is not None else nullcontext():
                yield
        finally:
            running.cancel()

    app = Starlette(
        routes=[
            *Pages(hub, journal, pictures).routes(),
            WebSocketRoute("/ws/state", sockets.state),
            WebSocketRoute("/ws/view", sockets.view),
            WebSocketRoute("/ws/stop", sockets.stop),
            *(annex.routes if annex is not None else ()),
        ],
        lifespan=lifespan,
    )
    return Guard(app, hub.door.origins), requests  # type: ignore[arg-type]
