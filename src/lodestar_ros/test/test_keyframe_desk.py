"""Tests of keeping images for the memory, with a temporarily full disk."""

from __future__ import annotations

import time
from unittest.mock import MagicMock

import pytest
from waiting import PATIENCE

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar.keyframes.records import ImageName
from lodestar_interfaces import msg, srv
from lodestar_ros import keyframe_client, keyframe_desk
from lodestar_ros.keyframe_client import KeyframeClient
from lodestar_ros.keyframe_desk import RETRY, KeyframeDesk


@pytest.fixture
def bench(monkeypatch):
    """Yield a desk whose store's disk is full while `full` is set; `late` is its timer callback."""
    monkeypatch.setattr(keyframe_desk, "ServiceWorker", MagicMock())
    node, store, bench = MagicMock(), MagicMock(), MagicMock()
    bench.full, bench.kept, bench.tried = True, [], 0

    def remember(memory, images):
        bench.tried += 1
        if bench.full:
            raise OSError(28, "No space left on device")
        bench.kept.append((memory, images))

    store.remember.side_effect = remember
    bench.desk = KeyframeDesk(node, store)
    bench.late = next(call.args[1] for call in node.steady_timer.call_args_list if call.args[0] == RETRY)
    bench.errors = node.diagnostics.error
    yield bench
    bench.desk._rememberer.close()
    bench.desk._teller.close()


def until(condition):
    ends = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < ends:
        time.sleep(0.005)
    assert condition()


def test_images_that_found_no_room_are_linked_when_there_is_some_though_nothing_changes(bench):
    wish = msg.WantedKeyframes(memory="mine", sessions=["one"], remembered=[3], session_index=[0])
    bench.desk._on_wanted(wish)
    until(lambda: bench.errors.called)
    bench.late()
    until(lambda: bench.tried == 2 and bench.errors.call_count == 2)
    bench.full = False
    bench.late()
    until(lambda: bench.kept and bench.desk._unkept is None)
    assert bench.kept == [("mine", [("one", 3)])]
    bench.late()
    time.sleep(0.1)
    assert bench.tried == 3, "what is done is not done again"


def test_a_list_that_failed_takes_nothing_away_and_is_asked_for_again(bench):
    response, client, future = srv.ListKeyframes.Response(), MagicMock(), MagicMock()
    bench.desk._store.keyframes.side_effect = ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        bench.desk._list(srv.ListKeyframes.Request(), response)
    client._listing, future.exception.return_value, future.result.return_value = future, None, response
    KeyframeClient._on_page(client, future)
    assert client._listing is None and not client._feed.post.called and not client._list_after.called


def test_a_picture_needs_the_scene_alone(monkeypatch):
    """Copying the whole scene per picture would block the memory's worker."""
    client = MagicMock()
    client._getter.call.return_value.error_code = 0
    client._feed.scene.return_value.resolve = {3: 5}.get
    monkeypatch.setattr(keyframe_client, "keyframe_from_msg", lambda message: MagicMock(instances={3: "box"}))
    monkeypatch.setattr(
        keyframe_client, "annotated_jpeg", lambda data, boxes, resolve: {resolve(i): boxes[i] for i in boxes}
    )
    assert KeyframeClient.picture(client, ImageName("one", 7)) == {5: "box"}
    assert not client._feed.surroundings.called
