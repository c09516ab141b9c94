"""Services of the stored keyframes (fetch one, list all, erase some), and the input of keyframes that must be kept."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import CompressedImage

from lodestar.keyframes.records import ImageName
from lodestar.keyframes.store import KeyframeStore
from lodestar.perception.caption_book import captions_home, erase_book
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_to_msg
from lodestar_ros.conversions_scene import keyframe_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import LatestWorker, Refused

RETRY = 10.0  # s of real time until images that did not fit on the disk are linked again
TELL_PERIOD = 0.5  # s of real time between two checks for changes of the stored keyframes
PAGE = 256  # records per page


class KeyframeDesk:
    """Serves ``~/get``, ``~/list`` (paged) and ``~/erase``, each on a thread, because they read and write the disk.

    Publishes: ``~/stored``. Subscribes: ``wanted_keyframes``, ``frontiers``, whose images are kept.
    """

    def __init__(self, node: LodestarNode, store: KeyframeStore) -> None:
        self._node, self._store = node, store
        # client -> ids, the most important client first
        self._wanted: dict[str, tuple[int, ...]] = {"frontiers": (), "memory": ()}
        self._told: tuple[int, int, tuple[int, ...]] | None = None
        # the memory's newest message, until its images are linked
        self._unkept: msg.WantedKeyframes | None = None
        self._stored = node.create_publisher(msg.StoredKeyframes, "~/stored", qos.LATCHED)
        self._teller: LatestWorker = LatestWorker("stored", self._tell, node.diagnostics.error)
        node.on_close(self._teller.close)
        self._rememberer: LatestWorker = LatestWorker("remember", self._remember, node.diagnostics.error)
        node.on_close(self._rememberer.close)
        services = (
            (srv.GetKeyframe, "~/get", self._get),
            (srv.ListKeyframes, "~/list", self._list),
            (srv.EraseKeyframes, "~/erase", self._erase),
        )
        for service_type, name, answer in services:
            ServiceWorker(node, service_type, name, answer)
        node.listen(msg.WantedKeyframes, "wanted_keyframes", self._on_wanted, qos.LATCHED)
        node.listen(msg.FrontierArray, "frontiers", self._on_frontiers, qos.LATCHED)
        node.steady_timer(TELL_PERIOD, lambda: self._teller.submit(None))
        node.steady_timer(RETRY, lambda: self._rememberer.submit(self._unkept) if self._unkept else None)
        node.diagnostics.value("wanted", lambda: sum(map(len, self._wanted.values())))

    # --- keyframes to keep
    # --------------------------------------------------------------------------------------

    def _on_wanted(self, message: msg.WantedKeyframes) -> None:
        self._want("memory", tuple(int(identity) for identity in message.ids))
        if message.memory:
            self._unkept = message
            self._rememberer.submit(message)

    def _remember(self, message: msg.WantedKeyframes) -> None:
        """Have the store keep the images that memories refer to. Runs on a worker."""
        sessions = message.sessions
        named = zip(message.session_index, message.remembered)
        images = ((sessions[at], int(one)) for at, one in named if at < len(sessions))
        self._store.remember(message.memory, list(map(ImageName._make, images)))
        if self._unkept is message:
            self._unkept = None

    def _on_frontiers(self, message: msg.FrontierArray) -> None:
        self._want("frontiers", tuple(int(one.keyframe_id) for one in message.frontiers if one.keyframe_id))

    def _want(self, who: str, ids: tuple[int, ...]) -> None:
        self._wanted[who] = ids
        self._store.want([identity for wish in self._wanted.values() for identity in wish])

    def _tell(self, _: object) -> None:
        """Publish the stored keyframes if they have changed. Runs on a worker."""
        loads, next_id, ids = now = self._store.stored
        if now == self._told:
            return
        stamp = stamp_to_msg(self._node.now)
        told = msg.StoredKeyframes(loads=loads, next_id=next_id, ids=ids)
        told.header.stamp = stamp
        self._stored.publish(told)
        self._told = now

    # --- services -----------------------------------------------------------------------------------------------

    def _get(self, request: srv.GetKeyframe.Request, response: srv.GetKeyframe.Response) -> Any:
        codes = srv.GetKeyframe.Response
        try:
            keyframe, image = self._store.get(request.id, request.session_id)
        except KeyError as error:
            gone = request.session_id or self._store.was_stored(request.id)
            raise Refused(codes.IMAGE_GONE if gone else codes.UNKNOWN_KEYFRAME, error.args[0]) from error
        response.keyframe = keyframe_to_msg(keyframe)
        response.image = CompressedImage(header=header(keyframe.stamp, "map"), format="jpeg", data=image)
        return response

    def _list(self, request: srv.ListKeyframes.Request, response: srv.ListKeyframes.Response) -> Any:
        response.more = True  # the value if listing fails below
        later = [keyframe for keyframe in self._store.keyframes() if keyframe.id > request.after]
        size = request.page_size or PAGE
        response.keyframes = [keyframe_to_msg(keyframe) for keyframe in later[:size]]
        response.more = len(later) > size
        return response

    def _erase(self, request: srv.EraseKeyframes.Request, response: srv.EraseKeyframes.Response) -> Any:
        try:
            response.gone = list(self._store.erase(request.session_id, map(int, request.ids)))
            erase_book(captions_home())
        except OSError as error:
            why = f"not all could be deleted: {error}; free or unlock the disk"
            raise Refused(srv.EraseKeyframes.Response.NOT_ERASED, why) from error
        return response
