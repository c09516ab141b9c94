"""The three WebSockets of a page: state (in order), views (newest only), and STOP (separate)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, get_args

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from lodestar_console import protocol
from lodestar_console.access.sessions import Session
from lodestar_console.web import frames
from lodestar_console.web.hub import Hub, Waker
from lodestar_console.web.journal import Journal
from lodestar_console.web.requests import BUSY, Requests, reply
from lodestar_console.web.stack_port import Outcome
from lodestar_console.web.stop_desk import NO_ANSWER, SentStop

PERIOD = 0.1  # s between two checks of the board per client
ENTITIES_PERIOD = 0.5  # s between two deltas of entities, which change with every image
VIEW_PERIODS = {protocol.CLOUD: 0.5, protocol.GRID: 0.2, protocol.LOOKS: 1.0}  # s between two frames, by kind
SEND_PATIENCE = 20.0  # s within which a client must read a message, else it is disconnected
MOST_OPEN = 8  # largest number of concurrent requests per page
MOST_SOCKETS = 12  # largest number per session and kind
SESSION_PERIOD = 1.0  # s between two checks whether the session of an open socket has ended
MOST_MALFORMED = 20  # tolerated malformed messages, then the socket is closed
STAND_PATIENCE = 20.0  # s within which the robot is expected to stand

NO_SESSION, TOO_MANY, TOO_SLOW, BAD = 4401, 4429, 4408, 4400  # WebSocket close codes
Step = Coroutine[Any, Any, None]


class Sockets:
    """WebSocket endpoints of all pages."""

    def __init__(self, hub: Hub, requests: Requests, journal: Journal) -> None:
        self._hub, self._requests, self._journal = hub, requests, journal

    async def state(self, socket: WebSocket) -> None:
        """Serve `/ws/state`."""
        await self._serve(
            socket,
            lambda session: together(
                StatePage(socket, session, self._hub, self._requests).run(), self._while_session(socket)
            ),
        )

    async def view(self, socket: WebSocket) -> None:
        """Serve `/ws/view`."""
        await self._serve(
            socket, lambda _: together(ViewPage(socket, self._hub).run(), self._while_session(socket))
        )

    async def stop(self, socket: WebSocket) -> None:
        """Serve `/ws/stop`."""
        await self._serve(
            socket, lambda session: StopButton(socket, session, self._hub, self._journal).run(), "stop"
        )

    async def _while_session(self, socket: WebSocket) -> None:
        """Wait for the end of the session, then close the socket; also works for a page that only listens."""
        while self._hub.door.session_of(socket.headers) is not None:
            await asyncio.sleep(SESSION_PERIOD)
        await socket.close(NO_SESSION, "the session has ended")

    async def _serve(
        self, socket: WebSocket, serve: Callable[[Session], Awaitable[None]], kind: str = "page"
    ) -> None:
        """Accept a page's socket and serve it until one side closes it.

        kind: each kind of socket has its own limit, so that other tabs cannot block STOP.
        """
        session = self._hub.door.session_of(socket.headers)
        problem = self._hub.door.origins.origin_problem(socket.headers, required=True)
        if session is None or problem:
            await socket.close(NO_SESSION, problem or "no session")  # sent as 403
            return
        counted = f"{session.id} {kind}"
        if self._hub.sockets[counted] >= MOST_SOCKETS:
            await socket.close(TOO_MANY, "too many tabs")
            return
        self._hub.sockets[counted] += 1
        try:
            await socket.accept()
            await serve(session)
        except (WebSocketDisconnect, OSError):
            pass
        except asyncio.TimeoutError:
            with suppress(Exception):
                await asyncio.wait_for(socket.close(TOO_SLOW, "too slow"), 1.0)
        finally:
            self._hub.sockets[counted] -= 1


async def together(*steps: Step) -> None:
    """Run steps until the first one ends; cancel the others, and raise its exception, if any."""
    tasks = [asyncio.ensure_future(step) for step in steps]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def send(socket: WebSocket, data: bytes, *, binary: bool = False) -> None:
    """Send a message. Raises asyncio.TimeoutError if the client does not read it in time."""
    sending = socket.send_bytes(data) if binary else socket.send_text(data.decode())
    await asyncio.wait_for(sending, SEND_PATIENCE)


async def receive_as(socket: WebSocket, hub: Hub) -> bytes | str:
    """Return the next message. Raises WebSocketDisconnect, also after the session has ended."""
    data = await receive(socket)
    if hub.door.session_of(socket.headers) is None:
        await socket.close(NO_SESSION, "the session has ended")
        raise WebSocketDisconnect(NO_SESSION)
    return data


async def receive(socket: WebSocket) -> bytes | str:
    """Return the next message. Raises WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    return message.get("bytes") or b"" if text is None else text


class StatePage:
    """State socket of one page: sends changes of the board, and answers requests."""

    def __init__(self, socket: WebSocket, session: Session, hub: Hub, requests: Requests) -> None:
        self._socket, self._session, self._hub, self._requests = socket, session, hub, requests
        self._waker = Waker()
        self._known = dict.fromkeys(get_args(protocol.DeltaName), 0)
        self._open: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the page until it disconnects."""
        board = self._hub.board
        self._hub.join(self._waker)
        self._hub.come(self._session)
        try:
            await send(self._socket, protocol.encode(protocol.Hello(
                session=self._session.id, name=self._session.name, role=self._session.role,  # type: ignore[arg-type]
                robot=board.robot, server_time=board.now(), lease=self._hub.lease(),
            )))  # fmt: skip
            await together(self._tell(), self._listen())
        finally:
            self._hub.leave(self._waker)
            self._hub.go(self._session)
            for task in list(self._open):
                task.cancel()

    async def _tell(self) -> None:
        board, revision, entities_at = self._hub.board, 0, 0.0
        while True:
            revision, texts = board.parts_since(revision)
            for text in texts:
                await send(self._socket, text)
            now = self._hub.door.steady()
            for name in self._known:
                if name == "entities" and now - entities_at < ENTITIES_PERIOD:
                    continue
                found = board.delta(name, self._known[name])
                if found is not None:
                    self._known[name], text = found
                    await send(self._socket, text)
                    if name == "entities":
                        entities_at = self._hub.door.steady()
            await self._waker.wait(ENTITIES_PERIOD)
            await asyncio.sleep(PERIOD)

    async def _listen(self) -> None:
        malformed = 0
        while True:
            data = await receive_as(self._socket, self._hub)
            try:
                request = protocol.page_message(data)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                malformed += 1
                await send(self._socket, reply(0, Outcome(False, f"not understood: {error}", "malformed")))
                if malformed > MOST_MALFORMED:
                    await self._socket.close(BAD, "too many malformed messages")
                    return
                continue
            door = self._hub.door
            if not isinstance(request, (protocol.Ping, protocol.Resync)):  # a page sends these automatically
                door.renew(self._socket.headers)
            is_text = isinstance(request, (protocol.SendDirective, protocol.AskMemory))
            limited = f"{self._session.id} texts" if is_text else self._session.id
            if not door.requests.allow(limited, door.steady()):
                refused = Outcome(False, "Too many requests; wait a moment.", "rate")
                await send(self._socket, reply(request.id, refused))
            elif isinstance(request, protocol.Ping):
                pong = protocol.Pong(id=request.id, server_time=self._hub.board.now())
                await send(self._socket, protocol.encode(pong))
            elif isinstance(request, protocol.Resync):
                self._known[request.name] = 0
                self._waker.wake()
            else:
                busy = None
                if len(self._open) >= MOST_OPEN:
                    busy = Outcome(False, f"{MOST_OPEN} requests run already; wait for one.", BUSY)
                task = asyncio.ensure_future(self._answer(request, busy))
                self._open.add(task)
                task.add_done_callback(self._open.discard)

    async def _answer(self, request: protocol.PageMessage, refused: Outcome | None) -> None:
        outcome = await self._requests.perform(request, self._session, refused)
        with suppress(WebSocketDisconnect, OSError, RuntimeError, asyncio.TimeoutError):
            await send(self._socket, reply(request.id, outcome))


class ViewPage:
    """View socket of one page: sends the newest frame of each wanted kind, without backlog."""

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket, self._hub = socket, hub
        self._waker = Waker()
        self._wanted = protocol.Wanted(grid=False)
        self._known = dict.fromkeys((protocol.CLOUD, protocol.GRID, protocol.CAMERA, protocol.LOOKS), 0)
        self._sent = dict.fromkeys(self._known, float("-inf"))

    async def run(self) -> None:
        """Serve the page until it disconnects."""
        self._hub.join(self._waker)
        try:
            await together(self._tell(), self._listen())
        finally:
            self._hub.leave(self._waker)

    async def _tell(self) -> None:
        while True:
            for kind in self._due():
                frame = await self._frame(kind)
                if frame is not None:
                    await send(self._socket, frame, binary=True)
                    self._sent[kind] = self._hub.door.steady()
            await self._waker.wait(ENTITIES_PERIOD)
            await asyncio.sleep(PERIOD / 2)

    def _due(self) -> list[int]:
        """Return the kinds of frame that are wanted and due."""
        wanted = self._wanted
        wants = {
            protocol.GRID: wanted.grid,
            protocol.CLOUD: wanted.cloud,
            protocol.LOOKS: wanted.looks,
            protocol.CAMERA: wanted.camera,
        }
        periods = VIEW_PERIODS | {protocol.CAMERA: 1.0 / min(max(wanted.hz, 0.2), 10.0)}
        now = self._hub.door.steady()
        return [kind for kind in wants if wants[kind] and now - self._sent[kind] >= periods[kind] - 0.01]

    async def _frame(self, kind: int) -> bytes | None:
        """Return the frame with the changes since the last frame of the same kind, None = unchanged."""
        board, known = self._hub.board, self._known[kind]
        if kind == protocol.CAMERA:
            shot = board.camera.since(known)
            if shot is None:
                return None
            self._known[kind] = shot.revision
            return self._hub.frames.get(kind, 0, shot.revision, lambda: frames.camera_frame(shot))
        if kind == protocol.CLOUD:
            cloud = await asyncio.to_thread(board.cloud.since, known)
            if cloud is None:
                return None
            self._known[kind] = cloud.revision
            return self._hub.frames.get(
                kind, cloud.previous, cloud.revision, lambda: frames.cloud_frame(cloud)
            )
        raster = (board.grid if kind == protocol.GRID else board.looks).since(known)
        if raster is None:
            return None
        self._known[kind] = raster.revision
        return self._hub.frames.get(
            kind, raster.previous, raster.revision, lambda: frames.raster_frame(kind, raster)
        )

    async def _listen(self) -> None:
        while True:
            try:
                self._wanted = protocol.want_request(await receive_as(self._socket, self._hub)).want
            except (msgspec.DecodeError, UnicodeDecodeError):
                await self._socket.close(BAD, "not understood")
                return
            self._hub.want(self._waker, self._wanted)
            self._waker.wake()


class StopButton:
    """STOP socket of one page: sends STOP and reports its progress."""

    def __init__(self, socket: WebSocket, session: Session, hub: Hub, journal: Journal) -> None:
        self._socket, self._session, self._hub, self._journal = socket, session, hub, journal
        self._watch: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Serve STOP until the page disconnects; every role may stop, even after its session has ended."""
        malformed = 0
        try:
            while malformed <= MOST_MALFORMED:
                try:
                    wanted = protocol.stop_request(await receive(self._socket))
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    malformed += 1
                    await self._say(0, "refused", f"not understood: {error}")
                    continue
                if not wanted.stop:
                    await self._say(0, "ready")
                    continue
                sent = await self._hub.stop.press(self._session.name)
                if self._watch is not None:
                    self._watch.cancel()
                await self._say(wanted.press, "sent")
                self._journal.note_stop(self._session)
                self._hub.door.renew(self._socket.headers)
                self._watch = asyncio.ensure_future(self._watch_stop(sent, wanted.press))
            await self._socket.close(BAD, "too many malformed messages")
        finally:
            if self._watch is not None:
                self._watch.cancel()

    async def _watch_stop(self, sent: SentStop, press: int) -> None:
        """Report the progress of a STOP until somebody resumes the robot, then report "released"."""
        watch = asyncio.ensure_future(self._watch_robot(sent, press))
        try:
            await sent.released.wait()
        finally:
            watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        with suppress(WebSocketDisconnect, OSError, RuntimeError, asyncio.TimeoutError):
            await self._say(press, "released")

    async def _watch_robot(self, sent: SentStop, press: int) -> None:
        """Report when the motion gate confirms the STOP, and when odometry shows the robot standing still."""
        with suppress(WebSocketDisconnect, OSError, RuntimeError, asyncio.TimeoutError):
            if not await sent.is_held():
                await self._say(press, "refused", NO_ANSWER)
                if not await sent.is_held(STAND_PATIENCE):  # a late answer is still reported
                    return
            await self._say(press, "held")
            if await self._hub.stop.stands(sent, STAND_PATIENCE):
                await self._say(press, "stands")
            else:
                await self._say(press, "held", "The robot is not measured to stand: look at it.")

    async def _say(self, press: int, what: str, text: str = "") -> None:
        told = protocol.StopReply(stop=what, at=self._hub.board.now(), text=text, press=press)  # type: ignore[arg-type]
        await send(self._socket, protocol.encode(told))
