"""Tests of map_server's maps: every format, mode and threshold against the rule, and invalid files.

The rule is implemented again here, pixel by pixel, from nav2_map_server's documentation of its modes.
"""

from __future__ import annotations

import logging
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from lodestar.grid.map_images import BadMapFile, MapFile, MapMode, grid_of, read_map_image

UNKNOWN_GREY = 205  # map_saver's value; free is 254, occupied 0
SIDES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=5)
GREYS = st.sampled_from([0, 50, 127, 204, 205, 206, 254, 255]) | st.integers(0, 255)


def cell(channels: tuple[int, ...], alpha: int, mode: str, negate: bool, low: float, high: float) -> int:
    """Return the value of one cell by map_server's documentation and our two rules (bring-your-own-world.md)."""
    if alpha < 255:
        return -1
    x = sum(channels) / len(channels)
    if mode == "raw":
        return round(x) if round(x) <= 100 else -1
    p = x / 255.0 if negate else (255.0 - x) / 255.0
    if mode == "trinary" and round(p * 255.0) == 255 - UNKNOWN_GREY and len(set(channels)) == 1:
        return -1
    if p >= high:
        return 100
    if p <= low:
        return 0
    return round((p - low) / (high - low) * 100.0) if mode == "scale" else -1


def expected(
    channels: np.ndarray, alpha: np.ndarray, mode: str, negate: bool, low: float, high: float
) -> np.ndarray:
    rows, columns = alpha.shape
    cells = np.zeros((rows, columns), int)
    for r in range(rows):
        for c in range(columns):
            pixel = tuple(int(v) for v in channels[r, c])
            cells[rows - 1 - r, c] = cell(pixel, int(alpha[r, c]), mode, negate, low, high)
    return cells


def write_yaml(folder: Path, **changes: object) -> Path:
    data = {
        "image": "map.png",
        "resolution": 0.05,
        "origin": [1.0, -2.0, 0.0],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
    }
    data |= changes
    path = folder / "map.yaml"
    path.write_text("\n".join(f"{key}: {value}" for key, value in data.items() if value is not None))
    return path


def write_image(path: Path, kind: str, channels: np.ndarray, alpha: np.ndarray) -> None:
    """Write an image of grey or coloured pixels (rows, columns, 3) and alpha (rows, columns) in a file format."""
    grey = channels[..., 0]
    if kind == "p2":
        lines = [
            f"P2 # a comment\n# CREATOR: map_saver 0.050 m/pix\n{grey.shape[1]}\n# another\n{grey.shape[0]}\n255"
        ]
        path.write_text("\n".join([*lines, *(" ".join(map(str, row)) for row in grey.tolist())]) + "\n")
    elif kind == "p5":
        head = f"P5\n# CREATOR: map_saver 0.050 m/pix\n{grey.shape[1]} {grey.shape[0]}\n255\n"
        path.write_bytes(head.encode() + grey.tobytes())
    elif kind == "png16":
        Image.fromarray(grey.astype(np.uint16) * 257).save(path, format="PNG")
    elif kind == "la":
        Image.fromarray(np.dstack([grey, alpha]), mode="LA").save(path, format="PNG")
    elif kind == "rgba":
        Image.fromarray(np.dstack([channels, alpha]), mode="RGBA").save(path, format="PNG")
    elif kind == "palette":
        picture = Image.fromarray((255 - grey).astype(np.uint8), mode="P")
        picture.putpalette([value for index in range(256) for value in [255 - index] * 3])
        picture.save(path, format="PNG")
    else:
        formats = {"png": ("PNG", grey), "bmp": ("BMP", grey), "rgb": ("PNG", channels)}
        name, pixels = formats[kind]
        Image.fromarray(pixels).save(path, format=name)


@st.composite
def maps(draw: st.DrawFn) -> tuple[str, np.ndarray, np.ndarray, str, bool, float, float]:
    kind = draw(st.sampled_from(["p2", "p5", "png", "bmp", "png16", "la", "rgb", "rgba", "palette"]))
    shape = draw(SIDES)
    depth = 3 if kind in ("rgb", "rgba") else 1
    channels = draw(hnp.arrays(np.uint8, (*shape, depth), elements=GREYS))
    if depth == 1 or draw(st.booleans()):
        channels = np.repeat(channels[..., :1], 3, axis=2)
    has_alpha = kind in ("la", "rgba")
    opacity = st.sampled_from([0, 1, 128, 254, 255, 255]) if has_alpha else st.just(255)
    alpha = draw(hnp.arrays(np.uint8, shape, elements=opacity))
    thresholds = st.sampled_from([0.0, 0.1, 0.15, 0.196, 0.25, 0.5, 0.65, 0.9, 1.0]) | st.floats(0.0, 1.0)
    low, high = sorted((draw(thresholds), draw(thresholds)))
    assume(high - low > 1e-3)
    mode = draw(st.sampled_from(["trinary", "scale", "raw"]))
    return kind, channels, alpha, mode, draw(st.booleans()), low, high


@given(maps())
def test_every_map_is_read_by_the_rule(tmp_path_factory, drawn):
    kind, channels, alpha, mode, negate, low, high = drawn
    greys = channels.astype(int)
    shades = greys.mean(axis=2)
    occupancy = shades / 255.0 if negate else 1.0 - shades / 255.0
    for edge in (low, high):  # by rounding, a value on a threshold may fall to either side
        assume(np.abs(occupancy - edge).min() > 1e-9)
    assume(np.abs(np.abs(shades - np.floor(shades)) - 0.5).min() > 1e-6)
    assume(np.abs(np.abs(occupancy * 255.0 - 50.0) - 0.5).min() > 1e-6)
    assume(((np.abs(occupancy * 255.0 - 50.0) > 0.5) | (np.ptp(greys, axis=2) == 0)).all())
    scaled = (occupancy - low) / (high - low) * 100.0
    assume(np.abs(scaled - np.floor(scaled) - 0.5).min() > 1e-6)
    folder = tmp_path_factory.mktemp("map")
    write_image(folder / "map.img", kind, channels, alpha)
    path = write_yaml(
        folder, image="map.img", mode=mode, negate=int(negate), occupied_thresh=high, free_thresh=low
    )
    grid = read_map_image(path)
    np.testing.assert_array_equal(grid.cells, expected(greys, alpha, mode, negate, low, high))
    assert (grid.resolution, grid.origin) == (0.05, (1.0, -2.0))


def saved(cells: np.ndarray, mode: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return greys and alpha (rows, columns) uint8 as Nav2's map_saver writes these cells in a mode."""
    alpha = np.full(cells.shape, 255, np.uint8)
    unknown = (cells < 0) | (cells > 100)
    if mode == "trinary":
        free, occupied = cells <= round(low * 100), cells >= round(high * 100)
        greys = np.where(unknown, 205, np.where(free, 254, np.where(occupied, 0, 205)))
    elif mode == "scale":
        greys = np.where(unknown, 255, np.rint((100 - cells) / 100 * 255))
        alpha[unknown] = 0
    else:
        greys = np.where(unknown, 255, cells)
    return greys[::-1].astype(np.uint8), alpha[::-1]


@given(
    hnp.arrays(np.int8, SIDES, elements=st.sampled_from([-1, 0, 100])),
    st.sampled_from(["trinary", "scale", "raw"]),
    st.sampled_from([(0.25, 0.65), (0.196, 0.65)]),  # thresholds of Humble's map_saver and of ROS 1's
)
def test_what_map_saver_saves_is_loaded_as_it_was(tmp_path_factory, cells, mode, thresholds):
    low, high = thresholds
    folder = tmp_path_factory.mktemp("map")
    greys, alpha = saved(cells, mode, low, high)
    write_image(folder / "map.png", "la" if mode == "scale" else "png", np.dstack([greys] * 3), alpha)
    path = write_yaml(folder, mode=mode, free_thresh=low, occupied_thresh=high)
    np.testing.assert_array_equal(read_map_image(path).cells, cells)


def house() -> np.ndarray:
    """Return (50, 50) uint8 as from map_saver: a room of 5.4 % of the map within walls, the rest unknown."""
    greys = np.full((50, 50), UNKNOWN_GREY, np.uint8)
    greys[10:22, 10:23] = 0
    greys[11:20, 11:26] = 254
    return greys


@pytest.mark.parametrize("kind", ["p5", "png", "png16", "palette"])
@pytest.mark.parametrize("negate", [False, True])
def test_what_map_saver_of_humble_left_unknown_stays_unknown_with_a_warning(tmp_path, caplog, kind, negate):
    greys = 255 - house() if negate else house()
    write_image(tmp_path / "map.img", kind, np.dstack([greys] * 3), np.full(greys.shape, 255, np.uint8))
    path = write_yaml(tmp_path, image="map.img", free_thresh=0.25, negate=int(negate))
    with caplog.at_level(logging.WARNING):
        grid = read_map_image(path)
    assert grid.free.mean() == pytest.approx(0.054)
    assert (grid.cells < 0).mean() == pytest.approx((house() == UNKNOWN_GREY).mean())
    (record,) = caplog.records
    assert "free_thresh 0.25 would make" in record.message and "Set free_thresh to 0.196" in record.message
    assert str(path) in record.message


def test_a_sound_map_is_read_without_a_warning(tmp_path, caplog):
    write_image(tmp_path / "map.png", "png", np.dstack([house()] * 3), np.full((50, 50), 255, np.uint8))
    with caplog.at_level(logging.WARNING):
        read_map_image(write_yaml(tmp_path))
        read_map_image(write_yaml(tmp_path, mode="Trinary", negate="false"))
    assert not caplog.records


def test_a_compressed_picture_keeps_its_unknown_cells_and_is_warned_of(tmp_path, caplog):
    Image.fromarray(house()).save(tmp_path / "map.jpg", quality=90)
    grid = read_map_image(write_yaml(tmp_path, image="map.jpg", free_thresh=0.25))
    assert grid.free.mean() == pytest.approx(0.054, abs=0.02)
    assert any("save the map as PNG" in record.message for record in caplog.records)


@pytest.mark.parametrize("grey", [0, 254])
@pytest.mark.parametrize("mode", ["trinary", "scale", "raw"])
@pytest.mark.parametrize("how", ["la", "rgba", "palette", "key"])
def test_transparent_pixels_are_unknown(tmp_path, mode, grey, how):
    greys = np.array([[grey, 40]], np.uint8)
    alpha = np.array([[0, 255]], np.uint8)
    if how == "palette":
        picture = Image.fromarray(np.array([[0, 1]], np.uint8), mode="P")
        picture.putpalette([grey] * 3 + [40] * 3)
        picture.save(tmp_path / "map.png", transparency=0)
    elif how == "key":
        Image.fromarray(greys).save(tmp_path / "map.png", transparency=grey)
    else:
        write_image(tmp_path / "map.png", how, np.dstack([greys] * 3), alpha)
    cells = read_map_image(write_yaml(tmp_path, mode=mode)).cells
    assert cells.tolist() == [[-1, 40 if mode == "raw" else 100]]


@pytest.mark.parametrize("where", ["beside", "below", "absolute", "home"])
def test_the_image_lies_where_its_path_says(tmp_path, monkeypatch, where):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    places = {
        "beside": ("map.png", tmp_path / "map.png"),
        "below": ("images/map.png", tmp_path / "images" / "map.png"),
        "absolute": (str(tmp_path / "else" / "map.png"), tmp_path / "else" / "map.png"),
        "home": ("~/map.png", tmp_path / "home" / "map.png"),
    }
    name, file = places[where]
    file.parent.mkdir(exist_ok=True)
    Image.fromarray(np.array([[0, 254]], np.uint8)).save(file)
    assert read_map_image(write_yaml(tmp_path, image=name)).cells.tolist() == [[100, 0]]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"resolution": 0}, "resolution is 0; write the metres per pixel, above 0"),
        ({"resolution": -0.05}, "resolution is -0.05"),
        ({"resolution": ".inf"}, "resolution is inf; write a finite number"),
        ({"resolution": "true"}, "resolution is True; write a finite number"),
        ({"resolution": None}, "lacks resolution"),
        ({"origin": None, "image": None}, "lacks image, origin"),
        ({"origin": "[1.0]"}, r"origin is \[1.0\]; write \[x, y, 0.0\]"),
        ({"origin": "here"}, r"origin is 'here'; write \[x, y, 0.0\]"),
        ({"origin": "[0.0, 0.0, 0.7]"}, "yaw of 0.7 rad; turn the image"),
        ({"occupied_thresh": 0.196, "free_thresh": 0.65}, "free_thresh 0.65 must be below occupied_thresh 0.196"),
        ({"occupied_thresh": 0.5, "free_thresh": 0.5}, "must be below"),
        ({"occupied_thresh": 65}, "occupied_thresh is 65; write a share from 0 to 1, such as 0.65"),
        ({"free_thresh": -0.1}, "free_thresh is -0.1; write a share"),
        ({"mode": "costmap"}, "mode is 'costmap'; write one of trinary, scale, raw"),
        ({"negate": "maybe"}, "negate is 'maybe'; write 0, or 1"),
        ({"image": "gone.pgm"}, "gone.pgm is missing"),
        ({"image": '""'}, "is missing"),
        ({"image": "/home/robot/maps/map.png"}, "map.png lies beside it: write image: map.png"),
        ({"image": "map.yaml"}, "no image that can be read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_remedy(tmp_path, changes, says):
    Image.fromarray(np.array([[0, 254]], np.uint8)).save(tmp_path / "map.png")
    path = write_yaml(tmp_path, **changes)
    with pytest.raises(BadMapFile, match=says) as caught:
        read_map_image(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("text", ["", "- 1", "just words", "image: [", "\x00", "a: &a [*a]\n"])
def test_what_is_no_yaml_of_a_map_is_refused(tmp_path, text):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(BadMapFile, match=r"map\.yaml: no "):
        read_map_image(tmp_path / "map.yaml")


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_torn_image_is_refused(tmp_path, share):
    write_image(tmp_path / "map.png", "png", np.dstack([house()] * 3), np.full((50, 50), 255, np.uint8))
    content = (tmp_path / "map.png").read_bytes()
    (tmp_path / "map.png").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(BadMapFile, match="no image that can be read"):
        read_map_image(write_yaml(tmp_path))


def test_keys_that_have_no_effect_are_told_and_whole_turns_are_none(tmp_path, caplog):
    Image.fromarray(np.array([[0, 254]], np.uint8)).save(tmp_path / "map.png")
    path = write_yaml(tmp_path, ocupied_thresh=0.9, cost_translation_table=1, origin=[0.0, 0.0, 2 * math.pi])
    read_map_image(path)
    told = [record.message for record in caplog.records]
    assert any(
        "ocupied_thresh is unknown and has no effect; is occupied_thresh meant?" in text for text in told
    )
    assert any("cost_translation_table is unknown and has no effect" in text for text in told)


def test_a_picture_of_something_else_is_too_large(tmp_path, monkeypatch):
    Image.fromarray(np.zeros((3, 3), np.uint8)).save(tmp_path / "map.png")
    monkeypatch.setattr("lodestar.grid.map_images.MAX_CELLS", 8)
    with pytest.raises(BadMapFile, match="3 x 3 pixels; at most 8"):
        grid_of(MapFile(tmp_path / "map.png", 0.05, (0.0, 0.0), mode=MapMode.RAW))
