"""The `~/manage` service: pin, forget, correct, add, export, import and list memories."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from lodestar.memory.errors import BadMemory, NoSuchMemory, NotErased, StoreError
from lodestar.memory.records import Memory
from lodestar.memory.rows import plain_words
from lodestar.memory.store import MemoryStore
from lodestar.memory.transfer import export_file, export_jsonl, import_jsonl
from lodestar_interfaces.msg import Remembered
from lodestar_interfaces.srv import ManageMemory
from lodestar_ros.conversions import point_to_msg, stamp_from_msg, stamp_to_msg
from lodestar_ros.memory_feed import MEMORY_POSE_PERIOD, MemoryFeed
from lodestar_ros.memory_keeper import MemoryKeeper
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import Refused

Codes = ManageMemory.Response
SHOWN_IDS, SHOWN_TEXTS = 100, 20
TELL_TRIES = 6  # looks for the pose at an operator's word, one per period of the poses: about a second


_ERRORS: dict[type[Exception], int] = {
    NoSuchMemory: Codes.NO_SUCH_MEMORY,
    BadMemory: Codes.BAD_REQUEST,
    StoreError: Codes.STORE_UNAVAILABLE,
    OSError: Codes.FILE_ERROR,
    ValueError: Codes.FILE_ERROR,
}


class MemoryDesk:
    """Serves ``~/manage`` on a worker: changes, exports and lists the memories."""

    def __init__(self, node: LodestarNode, feed: MemoryFeed, keeper: MemoryKeeper) -> None:
        self._node, self._feed, self._keeper = node, feed, keeper
        kinds = ManageMemory.Request
        self._work = {
            kinds.PIN: lambda store, request: self._pin(store, request, True),
            kinds.UNPIN: lambda store, request: self._pin(store, request, False),
            kinds.FORGET: self._forget,
            kinds.CORRECT: self._correct,
            kinds.TELL: self._tell,
            kinds.EXPORT: self._export,
            kinds.IMPORT: self._import,
            kinds.LIST: lambda store, request: dict.fromkeys(_listed(store, request, corrected=False), ""),
        }
        ServiceWorker(node, ManageMemory, "~/manage", self._manage, _ERRORS)

    def _manage(self, request: Any, response: Any) -> Any:
        """Execute a request and fill in its response. Runs on the worker; raises Refused."""
        store, work = self._keeper.store, self._work.get(request.what)
        if store is None:
            raise Refused(Codes.STORE_UNAVAILABLE, self._keeper.problem)
        if work is None:
            raise Refused(Codes.BAD_REQUEST, f"there is no request {request.what}; see ManageMemory.srv")
        try:
            memories = work(store, request)
        except NotErased as error:
            response.count, response.ids = len(error.ids), list(error.ids[:SHOWN_IDS])
            raise Refused(Codes.NOT_ERASED, str(error)) from error
        response.count, response.ids = len(memories), [int(i) for i in memories][:SHOWN_IDS]
        response.texts = [text for text in memories.values() if text][:SHOWN_TEXTS]
        if request.what == ManageMemory.Request.LIST:
            response.found = [_remembered(store.get(i)) for i in [*memories][-SHOWN_IDS:]]
        if request.what == ManageMemory.Request.FORGET and request.expected not in (0, len(memories)):
            why = f"{response.count} memories fit, not {request.expected}: nothing was forgotten; look again"
            raise Refused(Codes.NOT_CONFIRMED, why)
        return response

    def _pin(self, store: MemoryStore, request: Any, pinned: bool) -> dict[int, str]:
        for identity in _named(request):
            store.get(identity)  # raises if a memory is missing, before any is changed
        for identity in request.ids:
            store.pin(int(identity), pinned)
        return dict.fromkeys(request.ids, "")

    def _forget(self, store: MemoryStore, request: Any) -> dict[int, str]:
        """Return the matching memories as id -> text; forget them if their number equals `request.expected`."""
        fitting = _fitting(store, request)
        if fitting and len(fitting) == request.expected:
            try:
                store.forget(fitting)
            finally:
                self._feed.alone(self._feed.chain.recall_places)
        shown = fitting[:SHOWN_TEXTS] if len(fitting) != request.expected else ()
        return {**dict.fromkeys(fitting, ""), **{identity: store.get(identity).text for identity in shown}}

    def _correct(self, store: MemoryStore, request: Any) -> dict[int, str]:
        ids = _named(request)
        if len(ids) != 1:
            raise Refused(Codes.BAD_REQUEST, "a correction is about one memory; name one id")
        return {store.correct(ids[0], request.text): ""}

    def _tell(self, store: MemoryStore, request: Any) -> dict[int, str]:
        kept, stamp = list[int | None](), self._node.now
        try:
            while not kept or (kept[-1] is None and len(kept) < TELL_TRIES):
                time.sleep(MEMORY_POSE_PERIOD if kept else 0.0)
                self._feed.alone(lambda: kept.append(self._feed.chain.take_word(stamp, request.text)))
        except ValueError as error:
            raise Refused(Codes.BAD_REQUEST, str(error)) from error
        if kept[-1] is None:
            raise Refused(Codes.LOST, "the robot does not know where it is: nothing is remembered now")
        if not kept[-1]:
            why = self._feed.chain.problem or self._keeper.problem
            raise Refused(Codes.STORE_UNAVAILABLE, f"it is remembered once the memory can be written: {why}")
        return {kept[-1]: ""}

    def _export(self, store: MemoryStore, request: Any) -> dict[int, str]:
        try:
            path = export_file(request.path, self._keeper.exports)
        except ValueError as error:
            raise Refused(Codes.BAD_REQUEST, str(error)) from error
        kept = export_jsonl(store, path)
        return {**dict.fromkeys(kept, ""), **dict.fromkeys(kept[:1], str(path))}

    def _import(self, store: MemoryStore, request: Any) -> dict[int, str]:
        found = import_jsonl(store, _path(request))
        if found.bad_lines:
            line, why = found.bad[0]
            self._node.get_logger().warning(f"{found.bad_lines} lines were left out, first {line}: {why}")
        self._feed.alone(self._feed.chain.recall_places)
        return dict.fromkeys(found.ids, "")


def _remembered(memory: Memory) -> Remembered:
    return Remembered(
        id=memory.id,
        stamp=stamp_to_msg(memory.start),
        place=point_to_msg(memory.position),
        text=memory.text,
        keyframe_id=memory.keyframe_ids[0] if memory.keyframe_ids else 0,
        session_id=memory.keyframe_session,
        pinned=memory.pinned,
    )


def _named(request: Any) -> list[int]:
    if not len(request.ids):
        raise Refused(Codes.BAD_REQUEST, "no memory is named; give its id, which every answer's proof has")
    return [int(identity) for identity in request.ids]


def _fitting(store: MemoryStore, request: Any) -> list[int]:
    """Return the ids of the memories that match a request to forget, corrected ones included.

    Without ids in the request, only memories of this map match.
    """
    begin, end = stamp_from_msg(request.from_stamp), stamp_from_msg(request.to_stamp)
    if not (len(request.ids) or request.text.strip() or begin or end):
        raise Refused(Codes.BAD_REQUEST, "say what to forget: ids, words or a time")
    if not len(request.ids):
        return _listed(store, request, corrected=True)
    if end and begin > end:
        raise Refused(Codes.BAD_REQUEST, "the time ends before it begins")
    words, found = plain_words(request.text), map(store.get, map(int, dict.fromkeys(request.ids)))
    inside = [memory for memory in found if memory.end >= begin and (not end or memory.start <= end)]
    return [memory.id for memory in inside if words in plain_words(memory.text)]


def _listed(store: MemoryStore, request: Any, *, corrected: bool) -> list[int]:
    """Return the ids of this map's memories that match the request's words and time, the oldest first."""
    begin, end = stamp_from_msg(request.from_stamp), stamp_from_msg(request.to_stamp)
    if end and begin > end:
        raise Refused(Codes.BAD_REQUEST, "the time ends before it begins")
    return store.mentioning(request.text, (begin or float("-inf"), end or float("inf")), corrected=corrected)


def _path(request: Any) -> Path:
    path = Path(request.path).expanduser()
    if not request.path.strip() or not path.is_absolute():
        raise Refused(Codes.BAD_REQUEST, "give the file as an absolute path")
    return path
