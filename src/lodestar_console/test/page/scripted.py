"""A test server for the page that shows a recorded run; tests script the changes.

`data/run.json` is the end of a demonstration run in the apartment (seed 1): its grid, objects, rooms, decisions and
memories; `data/keyframe.jpg` is one of its pictures. Requests of the page are checked against `protocol.py`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect
from waiting import PATIENCE

import lodestar_console
from lodestar_console import protocol

DATA = Path(__file__).parent / "data"
STATIC = Path(lodestar_console.__file__).parent / "static"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
TABLES = ("entities", "decisions", "beliefs", "events", "memories")


def load_run() -> dict[str, Any]:
    """Return the recorded run."""
    return json.loads((DATA / "run.json").read_text())


class ScriptedConsole:
    """A server on a free loopback port, run in its own thread by `serving`.

    ``requests``: received requests, as records; ``replies``: by type of request, a function from the record to the
    reply's (ok, text, value); ``stops``: times of received STOPs, monotonic seconds; ``wants``: received wishes of
    /ws/view, newest last.
    """

    def __init__(self) -> None:
        self.run = load_run()
        self.parts: dict[str, Any] = {}
        self.tables: dict[str, dict[Any, dict[str, Any]]] = {name: {} for name in TABLES}
        self.revisions = dict.fromkeys(TABLES, 1)
        self.role = "command"
        self.requests: list[Any] = []
        self.replies: dict[str, Callable[[Any], tuple[bool, str, Any]]] = {}
        self.stops: list[float] = []
        self.wants: list[protocol.Wanted] = []
        self.paths: list[str] = []
        self.cloud: bytes | None = None
        self.pings = 0
        self.keeps_pictures = True
        self.session_ended = False  # True: as after a restart with another token
        self.silent = False  # True: nothing is sent any more, like a lost network
        self.stop_answers = self.takes_posts = True
        self.unheard = 0  # number of STOPs lost in a dead socket
        self._half_open: set[WebSocket] = set()
        self.entered = time.time()
        self._pages: set[WebSocket] = set()
        self._views: set[WebSocket] = set()
        self._others: set[WebSocket] = set()
        self._loop: asyncio.AbstractEventLoop
        self.port = 0
        self._fill()

    # --- the data ------------------------------------------------------------------------------------

    def _fill(self) -> None:
        run = self.run
        pose = run["robot"]["pose"]
        self.parts = {
            "robot": {
                "pose": pose, "speed": 0.0, "turn_rate": 0.0, "battery": {"share": 0.78, "volts": 28.9},
                "state": "idle", "gate_age": 0.5, "held": False, "holds": [], "motion_allowed": True,
                "epoch": 24, "stands": True, "stamp": run["now"],
                "footprint": [[0.35, 0.16], [0.35, -0.16], [-0.35, -0.16], [-0.35, 0.16]],
                "heartbeat_age": 0.2,
            },
            "directive": msgspec.to_builtins(protocol.Directive()),
            "path": {"driven": run["driven"], "planned": []},
            "frontiers": [], "rooms": run["rooms"], "zones": [],
            "vocabulary": {"words": sorted({one["label"] for one in run["entities"]}), "unseen": [], "by": "simulator",
                           "is_open": False, "problem": ""},
            "health": {"findings": [], "nodes": [], "stack": [], "cpu": None},
            "operators": {"people": [{"name": "operator", "role": "command", "since": 0.0, "agent": False}],
                          "agents": [], "offered": []},
            "lease": {"lease": None}, "looks": {"revision": 0}, "changes": {"against": "", "changes": []},
        }  # fmt: skip
        for name in ("entities", "decisions", "events", "memories"):
            self.tables[name] = {row["id"]: row for row in run[name]}

    def now(self) -> float:
        """Return the time of the robot's clock, s, which continues from the end of the recording."""
        return self.run["now"] + time.time() - self.entered

    def greeting(self) -> list[str]:
        """Return the first messages to a new page: hello, all parts, all tables."""
        hello = {
            "type": "hello", "session": "s1", "name": "operator", "role": self.role, "robot": "go2", "protocol": 1,
            "server_time": self.now(), "lease": self.parts["lease"]["lease"], "max_directive": protocol.MAX_DIRECTIVE,
        }  # fmt: skip
        parts = [
            {"type": "part", "name": name, "revision": 1, "value": value}
            for name, value in self.parts.items()
        ]
        return [json.dumps(one) for one in (hello, *parts, *(self.whole(name) for name in TABLES))]

    def whole(self, name: str) -> dict[str, Any]:
        return self.delta(name, list(self.tables[name].values()), [], 0)

    def delta(self, name: str, changed: list[Any], removed: list[Any], previous: int) -> dict[str, Any]:
        return {"type": "delta", "name": name, "revision": self.revisions[name], "previous": previous,
                "changed": changed, "removed": removed}  # fmt: skip

    # --- changes by the test ---------------------------------------------------------------------------

    def set_part(self, name: str, **fields: Any) -> None:
        """Change fields of a part, and send it to all pages."""
        self.parts[name] = {**self.parts[name], **fields}
        self.tell({"type": "part", "name": name, "revision": 2, "value": self.parts[name]})

    def set_list(self, name: str, rows: list[Any]) -> None:
        self.parts[name] = rows
        self.tell({"type": "part", "name": name, "revision": 2, "value": rows})

    def change(
        self, name: str, *rows: dict[str, Any], removed: tuple[Any, ...] = (), lost: bool = False
    ) -> None:
        """Change rows of a table, and send the delta to all pages, unless `lost`."""
        previous = self.revisions[name]
        self.revisions[name] += 1
        self.tables[name].update({row["id"]: row for row in rows})
        for key in removed:
            self.tables[name].pop(key, None)
        if not lost:
            self.tell(self.delta(name, list(rows), list(removed), previous))

    def tell(self, message: dict[str, Any]) -> None:
        self._do(self._send_all(self._pages, json.dumps(message)))

    def show(self, frame: bytes) -> None:
        """Send a binary frame to all pages."""
        self._do(self._send_all(self._views, frame))

    def hang_up(self) -> None:
        """Close all sockets."""
        self._do(self._close_all())

    def asked(self, kind: type[Any], timeout: float = PATIENCE) -> Any:
        """Return the newest request of a kind, waiting up to `timeout` s. Raises AssertionError if none arrives."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            for request in reversed(self.requests):
                if isinstance(request, kind):
                    return request
            time.sleep(0.02)
        raise AssertionError(f"no {kind.__name__} came; these did: {self.requests}")

    # --- the server ---------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def serving(self) -> Iterator[ScriptedConsole]:
        routes = [
            Route("/", self._page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/keyframes/{name}", self._keyframe),
            Route("/logs/{node}", self._log),
            Route("/pictures", self._picture, methods=["POST"]),
            WebSocketRoute("/ws/state", self._state),
            WebSocketRoute("/ws/view", self._view),
            WebSocketRoute("/ws/stop", self._stop),
            Route("/stop", self._stop_asked, methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), host="127.0.0.1", port=0, log_level="warning", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(self._serve(server)), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        self.port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.should_exit = server.force_exit = True
            thread.join(10.0)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def _serve(self, server: uvicorn.Server) -> None:
        self._loop = asyncio.get_running_loop()
        await server.serve()

    def _do(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _send_all(self, sockets: set[WebSocket], data: str | bytes) -> None:
        for socket in list(sockets) if not self.silent else ():
            with contextlib.suppress(Exception):
                await (socket.send_text(data) if isinstance(data, str) else socket.send_bytes(data))

    async def _close_all(self) -> None:
        for socket in [*self._pages, *self._views, *self._others]:
            with contextlib.suppress(Exception):
                await socket.close()

    async def _page(self, request: Request) -> Response:
        self.paths.append(request.url.path)
        if self.session_ended:
            return PlainTextResponse("no session", 401)
        return Response(
            (STATIC / "index.html").read_bytes(),
            media_type="text/html",
            headers={"Content-Security-Policy": CSP},
        )

    async def _keyframe(self, request: Request) -> Response:
        self.paths.append(request.url.path)
        if not self.keeps_pictures:
            return PlainTextResponse("This image is gone.", 404)
        return Response((DATA / "keyframe.jpg").read_bytes(), media_type="image/jpeg")

    async def _log(self, request: Request) -> Response:
        return PlainTextResponse(f"[INFO] [{request.path_params['node']}]: ready\n")

    async def _picture(self, request: Request) -> Response:
        body = await request.body()
        return JSONResponse({"picture": f"p{len(body)}"})

    async def _state(self, socket: WebSocket) -> None:
        if self.session_ended:
            await socket.close()
            return
        await socket.accept()
        for text in self.greeting():
            await socket.send_text(text)
        self._pages.add(socket)
        try:
            while True:
                request = protocol.page_message(await socket.receive_text())
                if not self.silent:
                    await self._answer(socket, request)
        except WebSocketDisconnect:
            pass
        finally:
            self._pages.discard(socket)

    async def _answer(self, socket: WebSocket, request: Any) -> None:
        if isinstance(request, protocol.Ping):
            self.pings += 1
            await socket.send_json({"type": "pong", "id": request.id, "server_time": self.now()})
            return
        self.requests.append(request)
        if isinstance(request, protocol.Resync):
            await socket.send_json(self.whole(request.name))
            return
        answer = self.replies.get(type(request).__struct_config__.tag, lambda _: (True, "", None))
        ok, text, value = answer(request)
        code = "" if ok else "bad"
        await socket.send_json(
            {"type": "reply", "id": request.id, "ok": ok, "code": code, "text": text, "value": value}
        )

    async def _view(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            told: set[str] = set()
            while True:
                want = protocol.want_request(await socket.receive_text()).want
                self.wants.append(want)
                self._views.add(socket)
                if want.grid and "grid" not in told:
                    await socket.send_bytes(self.grid_frame())
                    told.add("grid")
                if want.camera and "camera" not in told:
                    await socket.send_bytes(self.camera_frame())
                    told.add("camera")
                if want.cloud and self.cloud:
                    await socket.send_bytes(self.cloud)
        except WebSocketDisconnect:
            pass
        finally:
            self._views.discard(socket)

    async def _stop(self, socket: WebSocket) -> None:
        await socket.accept()
        self._others.add(socket)
        try:
            while True:
                wanted = protocol.stop_request(await socket.receive_text())
                if not self.stop_answers or socket in self._half_open:
                    self.unheard += wanted.stop
                    continue
                if not wanted.stop:
                    await socket.send_json({"stop": "ready", "at": self.now(), "text": ""})
                    continue
                self.stops.append(time.monotonic())
                told = {"at": self.now(), "text": "", "press": wanted.press}
                await socket.send_json({"stop": "sent", **told})
                holds = [{"number": 1, "kind": "hold", "who": "somebody", "why": "STOP", "since": self.now()}]
                stood = {"held": True, "holds": holds, "stands": True, "speed": 0.0}
                self.parts["robot"] = {**self.parts["robot"], **stood}
                await self._send_all(
                    self._pages,
                    json.dumps(
                        {"type": "part", "name": "robot", "revision": 3, "value": self.parts["robot"]}
                    ),
                )
                await socket.send_json({"stop": "stands", **told})
        except WebSocketDisconnect:
            pass
        finally:
            self._others.discard(socket)

    async def _stop_asked(self, _: Request) -> Response:
        if not (self.stop_answers and self.takes_posts):
            return Response(status_code=503)
        self.stops.append(time.monotonic())
        return JSONResponse({"stop": "held", "at": self.now(), "text": ""})

    def go_half_open(self) -> None:
        """Ignore the open STOP sockets without closing them, as after a change of network."""
        self._half_open |= self._others

    # --- binary frames ------------------------------------------------------------------------------------

    def grid_frame(self) -> bytes:
        grid = self.run["grid"]
        head = struct.pack(
            "<4f6H",
            grid["resolution"],
            *grid["origin"],
            0,
            0,
            grid["columns"],
            grid["rows"],
            grid["columns"],
            grid["rows"],
        )
        return frame_header(protocol.GRID, 1, 0, 1, self.run["now"]) + head + base64.b64decode(grid["cells"])

    def camera_frame(self) -> bytes:
        head = {"width": 640, "height": 480, "stamp": self.run["now"], "pose": None, "detections": []}
        text = json.dumps(head).encode()
        picture = (DATA / "keyframe.jpg").read_bytes()
        return (
            frame_header(protocol.CAMERA, 1, 0, 1, self.run["now"])
            + struct.pack("<H", len(text))
            + text
            + picture
        )


def frame_header(kind: int, revision: int, previous: int, count: int, stamp: float) -> bytes:
    """Return the 24 header bytes of a frame; flagged whole if `previous` is 0."""
    return struct.pack("<BBHIIId", kind, int(previous == 0), 0, revision, previous, count, stamp)


def cloud_frame(voxels: np.ndarray, colors: np.ndarray, instances: np.ndarray, pitch: float = 0.05) -> bytes:
    """Return the frame of a whole cloud. voxels: (N, 3) int16; colors: (N, 3) uint8; instances: (N,) uint32."""
    record = np.zeros(
        len(voxels), np.dtype([("at", "<i2", 3), ("color", "u1", 3), ("flags", "u1"), ("instance", "<u4")])
    )
    record["at"], record["color"], record["instance"] = voxels, colors, instances
    return frame_header(protocol.CLOUD, 1, 0, len(voxels), 0.0) + struct.pack("<f", pitch) + record.tobytes()


def walls(
    run: dict[str, Any], height: int = 50, pitch: float = 0.05
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return voxels, colours and instances of the recorded grid's occupied cells, raised `height` voxels."""
    grid = run["grid"]
    cells = np.frombuffer(zlib.decompress(base64.b64decode(grid["cells"])), np.uint8).reshape(
        grid["rows"], grid["columns"]
    )
    per = round(grid["resolution"] / pitch)
    rows, columns = np.nonzero(np.kron(cells == 2, np.ones((per, per), bool)))
    x = columns + round(grid["origin"][0] / pitch)
    y = rows + round(grid["origin"][1] / pitch)
    at = np.stack(
        [np.tile(x, height), np.tile(y, height), np.repeat(np.arange(height), len(x))], axis=1
    ).astype(np.int16)
    shade = (90 + 2 * at[:, 2]).astype(np.uint8)
    return at, np.repeat(shade[:, None], 3, axis=1), np.zeros(len(at), np.uint32)
