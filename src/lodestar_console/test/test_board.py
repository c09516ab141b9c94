"""Tests of the board: a client that applies changes, however rarely, reaches the state of the board."""

import struct
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar_console import protocol
from lodestar_console.board import items as items_module
from lodestar_console.board import voxels as voxels_module
from lodestar_console.board.board import Board
from lodestar_console.board.items import ItemTable
from lodestar_console.board.moments import Moments
from lodestar_console.board.raster import TiledRaster
from lodestar_console.board.voxels import VoxelCloud
from lodestar_console.web import frames


def event(key, text):
    return protocol.Event(id=str(key), at=0.0, kind="TOLD", text=text)


class ItemsReader:
    """Client that applies deltas, and restarts from a whole one after a gap."""

    def __init__(self):
        self.revision, self.items = 0, {}

    def follow(self, board):
        found = board.delta("events", self.revision)
        if found is None:
            return
        self.revision, text = found
        delta = msgspec.json.decode(text)
        if delta["previous"] == 0:
            self.items.clear()
        for key in delta["removed"]:
            self.items.pop(key, None)
        self.items |= {item["id"]: item["text"] for item in delta["changed"]}


CHANGES = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 12), st.sampled_from("ab"), max_size=4),
        st.sets(st.integers(0, 12), max_size=3),
        st.sets(st.integers(0, 2)),  # readers that update afterwards
    ),
    max_size=12,
)


@given(CHANGES, st.integers(1, 10), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_who_follows_items_has_what_the_board_shows(changes, most, remembered):
    before, items_module.MOST_REMOVED = items_module.MOST_REMOVED, remembered
    try:
        board = Board()
        board.tables["events"] = ItemTable(most)
        readers = [ItemsReader() for _ in range(3)]
        for put, removed, readings in changes:
            board.put(
                "events", *(event(key, text) for key, text in put.items()), removed=tuple(map(str, removed))
            )
            for number in readings:
                readers[number].follow(board)
        shown = {item.id: item.text for item in board.tables["events"].values()}
        assert len(shown) <= most
        for reader in readers:
            reader.follow(board)
            assert reader.items == shown
    finally:
        items_module.MOST_REMOVED = before


def test_items_that_are_equal_are_no_news():
    board = Board()
    board.put("events", event(1, "a"))
    revision = board.tables["events"].revision
    board.put("events", event(1, "a"))
    assert board.tables["events"].revision == revision


def test_a_part_that_is_equal_is_no_news_and_each_client_gets_the_newest():
    board = Board()
    woken = []
    board.listen(lambda: woken.append(1))
    board.set("robot", protocol.Robot(state="IDLE"))
    board.set("robot", protocol.Robot(state="IDLE"))
    assert len(woken) == 1
    revision, first = board.parts_since(0)
    board.set("robot", protocol.Robot(state="HELD"))
    board.set("robot", protocol.Robot(state="DECIDING"))
    _, news = board.parts_since(revision)
    assert len(first) == len(news) == 1 and b"DECIDING" in news[0]


def read_raster(data, known):
    """Apply a raster frame as the page does; return (revision, cells)."""
    _, flags, _, revision, _, count, _ = frames.HEADER.unpack_from(data)
    at = frames.HEADER.size
    *_, x0, y0, w, h, width, height = frames.RASTER.unpack_from(data, at)
    cells = np.frombuffer(zlib.decompress(data[at + frames.RASTER.size :]), np.uint8).reshape(h, w)
    assert count == w * h
    out = np.zeros((height, width), np.uint8) if flags & 1 else known.copy()
    out[y0 : y0 + h, x0 : x0 + w] = cells
    return revision, out


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_who_follows_a_raster_has_its_cells(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    raster, readers = TiledRaster(), [(0, np.zeros((0, 0), np.uint8)), (0, np.zeros((0, 0), np.uint8))]
    cells, origin = np.zeros((50, 70), np.uint8), (0.0, 0.0, 0.0)
    for _ in range(data.draw(st.integers(1, 8))):
        if data.draw(st.integers(0, 4)) == 0:
            cells = np.zeros(rng.integers(1, 100, 2), np.uint8)
            origin = (float(rng.integers(5)), 0.0, 0.0)
        y, x = (int(rng.integers(n)) for n in cells.shape)
        cells = cells.copy()
        cells[y : y + 5, x : x + 9] = rng.integers(3)
        raster.show(cells, 0.05, origin, 1.0)
        for number in range(2):
            if data.draw(st.booleans()) and (change := raster.since(readers[number][0])) is not None:
                readers[number] = read_raster(frames.raster_frame(protocol.GRID, change), readers[number][1])
    for revision, known in readers:
        change = raster.since(revision)
        if change is not None:
            known = read_raster(frames.raster_frame(protocol.GRID, change), known)[1]
        assert np.array_equal(known, cells)


def test_a_small_change_of_a_large_raster_is_a_small_rectangle():
    raster = TiledRaster()
    cells = np.zeros((1000, 1000), np.uint8)
    raster.show(cells, 0.05, (0.0, 0.0, 0.0), 1.0)
    cells = cells.copy()
    cells[500, 500] = 2
    raster.show(cells, 0.05, (0.0, 0.0, 0.0), 2.0)
    change = raster.since(1)
    assert change.cells.size == 32 * 32 and not change.whole


@pytest.mark.parametrize("cells", [np.zeros((3, 3)), np.zeros(9, np.uint8), np.zeros((2, 2, 2), np.uint8)])
def test_what_is_no_raster_is_refused(cells):
    with pytest.raises(ValueError, match="cannot be shown"):
        TiledRaster().show(cells, 0.05, (0.0, 0.0, 0.0), 1.0)


def read_cloud(data, known):
    _, flags, _, revision, _, count, _ = frames.HEADER.unpack_from(data)
    at = frames.HEADER.size + struct.calcsize("<f")
    records = np.frombuffer(data[at:], frames.RECORD)
    assert len(records) == count
    out = {} if flags & 1 else dict(known)
    for one in records:
        key = tuple(int(v) for v in one["cell"])
        if one["flags"] & 1:
            out.pop(key, None)
        else:
            out[key] = (tuple(int(v) for v in one["color"]), int(one["instance"]))
    return revision, out


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_who_follows_a_cloud_has_its_voxels(data):
    before, voxels_module.MOST_REMOVED = voxels_module.MOST_REMOVED, 8
    try:
        rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
        cloud, readers, truth, pitch = VoxelCloud(), [(0, {}), (0, {})], {}, 0.1
        for _ in range(data.draw(st.integers(1, 8))):
            if data.draw(st.integers(0, 6)) == 0:
                pitch = 0.05 if pitch == 0.1 else 0.1
            for _ in range(int(rng.integers(6))):
                key = tuple(int(v) for v in rng.integers(-3, 3, 3))
                if rng.random() < 0.4:
                    truth.pop(key, None)
                else:
                    truth[key] = (tuple(int(v) for v in rng.integers(0, 2, 3)), int(rng.integers(3)))
            points = (np.array(list(truth), float).reshape(-1, 3) + 0.5) * pitch
            colors = np.array([c for c, _ in truth.values()], np.uint8).reshape(-1, 3)
            cloud.show(points, colors, np.array([i for _, i in truth.values()], int), pitch, 1.0)
            for number in range(2):
                if data.draw(st.booleans()) and (change := cloud.since(readers[number][0])) is not None:
                    readers[number] = read_cloud(frames.cloud_frame(change), readers[number][1])
        for revision, known in readers:
            change = cloud.since(revision)
            if change is not None:
                known = read_cloud(frames.cloud_frame(change), known)[1]
            assert known == truth
    finally:
        voxels_module.MOST_REMOVED = before


def test_points_that_are_no_places_are_left_out_and_too_many_are_thinned(monkeypatch):
    monkeypatch.setattr(voxels_module, "MOST_VOXELS", 10)
    cloud = VoxelCloud()
    points = np.array([[np.nan, 0, 0], [1e9, 0, 0], *[[0.05 * n, 0, 0] for n in range(40)]])
    cloud.show(points, np.zeros((42, 3), np.uint8), np.zeros(42, int), 0.05, 1.0)
    assert len(cloud) == 10 and cloud.left_out == 30


def test_a_camera_image_is_shown_with_its_head():
    board = Board()
    board.camera.show(protocol.CameraHead(width=4, height=3, stamp=2.0), b"jpeg")
    shot = board.camera.since(0)
    data = frames.camera_frame(shot)
    (length,) = struct.unpack_from("<H", data, frames.HEADER.size)
    at = frames.HEADER.size + 2
    assert msgspec.json.decode(data[at : at + length])["width"] == 4 and data[at + length :] == b"jpeg"
    assert board.camera.since(shot.revision) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=80), st.integers(4, 30))
def test_what_was_so_at_a_time_is_the_newest_by_then(noted, most):
    moments, newest = Moments(most), {}
    for stamp, value in noted:
        moments.put(float(stamp), value)
        newest[stamp] = value
    assert len(moments) <= most
    for asked in range(-1, 62):
        before = [stamp for stamp in newest if stamp <= asked]
        told = moments.at(float(asked))
        if len(newest) <= most // 2:
            assert told == (newest[max(before)] if before else None)
        assert told is None or any(told == newest[stamp] for stamp in before)
    moments.clear()
    assert moments.at(99.0) is None
