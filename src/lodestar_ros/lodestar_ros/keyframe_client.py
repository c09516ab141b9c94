"""The memory node's client of the keyframes node: lists, requests, erases and fetches images."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from lodestar.assembly.memory_images import WantedImages
from lodestar.keyframes.records import ImageName, Keyframe
from lodestar.memory.errors import StoreError
from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.conversions_scene import keyframe_from_msg
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceCaller

MEMORY_WANTED_PERIOD = 5.0  # s of real time between two lists of wanted keyframes; chosen
TURN = 0.1  # s of real time between two checks for a missing list
PATIENCE = 5.0  # s of real time that a worker waits for an answer
RELIST = 5.0  # least s of real time between two lists
PAGE = 256  # records per page


class KeyframeClient:
    """Reports stored keyframes to a `MemoryChain`, and publishes which keyframes must be kept.

    Subscribes: ``stored_keyframes``. Publishes: ``~/wanted_keyframes``. Calls: ``list_keyframes``,
    ``erase_keyframes``, ``get_keyframe``; the executor sends all requests.
    """

    def __init__(self, node: LodestarNode, feed: MemoryFeed) -> None:
        self._node, self._feed = node, feed
        self._lister = node.create_client(srv.ListKeyframes, "list_keyframes")
        self._eraser = ServiceCaller(node, srv.EraseKeyframes, "erase_keyframes", PATIENCE)
        self._getter = ServiceCaller(node, srv.GetKeyframe, "get_keyframe", PATIENCE)
        self._loads = -1  # load counter of the keyframes node, -1 before its first message
        self._listing: Any = None
        self._listed: list[Keyframe] = []
        self._list_at = 0.0
        self._wanted: WantedImages | None = None
        self._wishes = node.create_publisher(msg.WantedKeyframes, "~/wanted_keyframes", qos.LATCHED)
        node.listen(msg.StoredKeyframes, "stored_keyframes", self._on_stored, qos.LATCHED)
        node.steady_timer(TURN, self._turn)
        node.steady_timer(MEMORY_WANTED_PERIOD, lambda: feed.post(self._wish))
        node.diagnostics.value("images.known", lambda: len(feed.chain.snapshots.keyframe_ids))
        node.diagnostics.value("images.wanted", lambda: len(self._wanted.ids if self._wanted else ()))

    # --- stored keyframes
    # ---------------------------------------------------------------------------------------

    def _on_stored(self, message: msg.StoredKeyframes) -> None:
        replaced = self._loads not in (-1, message.loads)
        self._loads = message.loads
        self._feed.post(partial(self._take_stored, message, replaced))

    def _take_stored(self, message: msg.StoredKeyframes, replaced: bool) -> None:
        """Update the chain's images; forget the old ones if the store was replaced. Runs on the feed's worker."""
        if replaced:
            self._feed.chain.images.begin_anew()
        self._feed.chain.images.take_stored([int(identity) for identity in message.ids], int(message.next_id))

    def _turn(self) -> None:
        now = time.monotonic()
        if self._listing is not None and now - self._list_at > PATIENCE:
            self._listing = None
        due = self._feed.chain.images.lacks and now - self._list_at >= RELIST
        if self._listing is None and due and self._lister.service_is_ready():
            self._listed = []
            self._list_after(0)

    def _list_after(self, identity: int) -> None:
        self._list_at = time.monotonic()
        self._listing = self._lister.call_async(srv.ListKeyframes.Request(after=identity, page_size=PAGE))
        self._listing.add_done_callback(self._on_page)

    def _on_page(self, future: Any) -> None:
        if future is not self._listing:
            return
        self._listing = None
        response = future.result() if future.exception() is None else None
        if response is None or (response.more and not response.keyframes):
            return  # the timer tries again
        self._listed += [keyframe_from_msg(message) for message in response.keyframes]
        if response.more:
            self._list_after(self._listed[-1].id)
        else:
            listed, self._listed = self._listed, []
            self._feed.post(lambda: self._feed.chain.images.take_listed(listed))

    # --- wanted keyframes
    # ---------------------------------------------------------------------------------------

    def _wish(self) -> None:
        """Publish the wanted keyframes if they have changed. Runs on the feed's worker."""
        wanted = self._feed.chain.wanted_images()
        if wanted == self._wanted:
            return
        sessions = {session: at for at, session in enumerate({image.session for image in wanted.remembered})}
        message = msg.WantedKeyframes(
            ids=wanted.ids,
            memory=wanted.memory,
            sessions=list(sessions),
            remembered=[image.id for image in wanted.remembered],
            session_index=[sessions[image.session] for image in wanted.remembered],
        )
        message.header.stamp = stamp_to_msg(self._node.now)
        self._wishes.publish(message)
        self._wanted = wanted

    # --- for workers --------------------------------------------------------------------------------------------

    def erase(self, images: Sequence[ImageName]) -> None:
        """Erase the images of forgotten memories. Raises StoreError unless all are gone; the caller tries again."""
        self._feed.alone(lambda: self._feed.chain.images.take_erased(images))
        for session in sorted({image.session for image in images}):
            ids = [image.id for image in images if image.session == session]
            response = self._eraser.call(session_id=session, ids=ids)
            if response is None:
                raise StoreError(
                    f"{len(images)} images of forgotten memories are not erased yet: the keyframes node does not "
                    "answer; they are erased when it is up"
                )
            if response.error_code or not set(ids) <= set(response.gone):
                raise StoreError(f"images of forgotten memories are not erased yet: {response.error_msg}")

    def picture(self, image: ImageName) -> bytes | None:
        """Return the image as a JPEG with contours and ids of its entities; None if the image no longer exists."""
        response = self._getter.call(id=image.id, session_id=image.session)
        if response is None or response.error_code:
            return None
        keyframe = keyframe_from_msg(response.keyframe)
        return annotated_jpeg(bytes(response.image.data), keyframe.instances, self._feed.scene().resolve)

    def close(self) -> None:
        """Abort all waiting calls; call this before the workers that wait are closed."""
        self._eraser.close()
        self._getter.close()
