"""Tests of image decoding against references: encodings, sizes, padding, byte order, compression."""

from __future__ import annotations

import struct
from collections.abc import Callable

import cv2
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sensor_msgs.msg import CompressedImage, Image

from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_sensors import depth_from_msg, image_from_msg, rgb_from_msg
from lodestar_ros.image_codecs import assumption

SIDE = st.integers(1, 9)
PAD = st.sampled_from([0, 1, 4, 7])


def raw(
    array: np.ndarray, encoding: str, pad: int = 0, big: bool = False, height: int | None = None
) -> Image:
    """Return an image message of an array (H, W) or (H, W, C), its rows padded by `pad` bytes."""
    rows = np.ascontiguousarray(array.astype(array.dtype.newbyteorder(">" if big else "<")))
    rows = rows.reshape(len(array), -1).view(np.uint8).reshape(len(array), -1)
    rows = np.pad(rows, ((0, 0), (0, pad)), constant_values=200)
    message = Image(
        height=height or array.shape[0], width=array.shape[1], encoding=encoding, is_bigendian=int(big)
    )
    message.step, message.data = rows.shape[1], rows.tobytes()
    return message


PACK = {  # encoding -> function that encodes an RGB image (H, W, 3) uint8
    "rgb8": lambda rgb: rgb,
    "bgr8": lambda rgb: rgb[..., ::-1],
    "8UC3": lambda rgb: rgb[..., ::-1],
    "rgba8": lambda rgb: np.dstack([rgb, np.full(rgb.shape[:2], 9, np.uint8)]),
    "bgra8": lambda rgb: np.dstack([rgb[..., ::-1], np.full(rgb.shape[:2], 9, np.uint8)]),
    "8UC4": lambda rgb: np.dstack([rgb[..., ::-1], np.full(rgb.shape[:2], 9, np.uint8)]),
    "rgb16": lambda rgb: rgb.astype(np.uint16) * 257,
    "bgr16": lambda rgb: rgb[..., ::-1].astype(np.uint16) * 257,
    "rgba16": lambda rgb: np.dstack([rgb, rgb[..., 0]]).astype(np.uint16) * 257,
    "bgra16": lambda rgb: np.dstack([rgb[..., ::-1], rgb[..., 0]]).astype(np.uint16) * 257,
}


@given(st.sampled_from(sorted(PACK)), SIDE, SIDE, PAD, st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=200)
def test_colour_comes_back(encoding: str, height: int, width: int, pad: int, big: bool, seed: int) -> None:
    rgb = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    packed = PACK[encoding](rgb)
    pad -= pad % packed.dtype.itemsize
    got = rgb_from_msg(raw(packed, encoding, pad, big and packed.dtype.itemsize > 1))
    assert got.dtype == np.uint8 and got.flags.c_contiguous
    assert np.abs(got.astype(int) - rgb).max() <= (1 if "16" in encoding else 0)


@given(st.sampled_from(["mono8", "8UC1"]), SIDE, SIDE, PAD)
def test_grey_has_three_equal_channels(encoding: str, height: int, width: int, pad: int) -> None:
    grey = np.arange(height * width, dtype=np.uint8).reshape(height, width)
    assert np.array_equal(rgb_from_msg(raw(grey, encoding, pad)), np.dstack([grey] * 3))


# BT.601, as in all cameras: Y, U, V of full red, green, blue, white and black.
YUV = {
    (255, 0, 0): (81, 90, 240),
    (0, 255, 0): (145, 54, 34),
    (0, 0, 255): (41, 240, 110),
    (255, 255, 255): (235, 128, 128),
    (0, 0, 0): (16, 128, 128),
}


@pytest.mark.parametrize("encoding", ["yuv422", "uyvy", "yuv422_yuy2", "yuyv", "nv12", "nv21"])
@pytest.mark.parametrize("color", YUV)
@pytest.mark.parametrize("pad", [0, 6])
def test_yuv_has_the_right_colours(encoding: str, color: tuple[int, int, int], pad: int) -> None:
    y, u, v = YUV[color]
    if encoding.startswith("nv"):
        chroma = [u, v] if encoding == "nv12" else [v, u]
        buffer = np.vstack([np.full((4, 6), y), np.tile(chroma, (2, 3))]).astype(np.uint8)
        messages = [
            raw(buffer, encoding, pad, height=4),
            raw(buffer, encoding, pad),
        ]  # height of the image, of the buffer
    else:
        pair = [[u, y], [v, y]] if encoding in ("yuv422", "uyvy") else [[y, u], [y, v]]
        messages = [raw(np.tile(np.array(pair, np.uint8), (4, 3, 1)), encoding, pad)]
    for message in messages:
        got = rgb_from_msg(message)
        assert got.shape == (4, 6, 3)
        assert np.abs(got.astype(int) - color).max() <= 3


BAYER = ("rggb", "bggr", "gbrg", "grbg")


@pytest.mark.parametrize("pattern", BAYER)
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("color", [(250, 10, 10), (10, 250, 10), (10, 10, 250), (200, 120, 40)])
def test_bayer_has_the_right_pattern(pattern: str, bits: int, color: tuple[int, int, int]) -> None:
    cell = np.array([color["rgb".index(letter)] for letter in pattern], np.uint16).reshape(2, 2)
    mosaic = np.tile(cell, (6, 5)) * (1 if bits == 8 else 257)
    for big in (False, True) if bits == 16 else (False,):
        message = raw(mosaic.astype(np.uint8 if bits == 8 else np.uint16), f"bayer_{pattern}{bits}", 2, big)
        got = rgb_from_msg(message)
        assert got.shape == (12, 10, 3)
        assert np.abs(got[2:-2, 2:-2].astype(int) - color).max() <= 1


DEPTHS = {
    "16UC1": np.uint16,
    "mono16": np.uint16,
    "16SC1": np.int16,
    "32FC1": np.float32,
    "64FC1": np.float64,
}


@given(st.sampled_from(sorted(DEPTHS)), SIDE, SIDE, PAD, st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=200)
def test_depth_is_metres(encoding: str, height: int, width: int, pad: int, big: bool, seed: int) -> None:
    rng, dtype = np.random.default_rng(seed), DEPTHS[encoding]
    millimetres = rng.integers(-3000 if encoding == "16SC1" else 0, 30_000, (height, width))
    if dtype in (np.float32, np.float64):
        values = np.where(millimetres % 5 == 0, np.nan, millimetres / 1000.0).astype(dtype)
        values[millimetres % 7 == 0] = rng.choice([np.inf, -np.inf, -1.0, 0.0])
        sound = np.isfinite(values) & (values > 0.0)
        expected = np.where(sound, values, 0.0)
    else:
        values, expected = millimetres.astype(dtype), np.maximum(millimetres, 0) / 1000.0
    got = depth_from_msg(raw(values, encoding, pad, big))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_depth_beyond_float32_is_invalid() -> None:
    assert not depth_from_msg(raw(np.array([[1e300, -1e300, np.nan]]), "64FC1")).any()


@pytest.mark.parametrize("encoding", ["8UC3", "8UC4", "8UC1", "bgr8"])
def test_bytes_without_a_meaning_are_told(encoding: str) -> None:
    said = assumption(raw(np.zeros((2, 2, 3), np.uint8), encoding))
    assert (encoding in said and "read as bgr" in said) == (encoding in ("8UC3", "8UC4"))


@pytest.mark.parametrize(
    ("encoding", "read", "why"),
    [
        ("nv24", rgb_from_msg, "'nv24' is not known"),
        ("", rgb_from_msg, "'' is not known"),
        ("jpeg", rgb_from_msg, "'jpeg' is not known"),
        ("8UC2", rgb_from_msg, "'8UC2' is not a colour image"),
        ("8UC0", rgb_from_msg, "0 channels"),
        ("8UC99999999999", rgb_from_msg, "channels"),
        ("16UC1", rgb_from_msg, "'16UC1' is not a colour image"),
        ("32FC3", rgb_from_msg, "'32FC3' is not a colour image"),
        ("rgb8", depth_from_msg, "'rgb8' is not depth"),
        ("8UC1", depth_from_msg, "'8UC1' is not depth"),
        ("yuv422", image_from_msg, "packed colour"),
    ],
)
def test_what_cannot_be_read_is_named(encoding: str, read: Callable, why: str) -> None:
    message = Image(height=2, width=2, encoding=encoding, data=bytes(64))
    with pytest.raises(BadMessage, match=why):
        read(message)


ENCODINGS = (
    *PACK, *DEPTHS, "mono8", "8UC1", "yuv422", "yuv422_yuy2", "nv12", "nv21", "bayer_rggb8", "bayer_gbrg16",
    "8SC1", "32SC1", "16SC4",
)  # fmt: skip


@given(
    st.sampled_from(ENCODINGS), st.integers(0, 9), st.integers(0, 9), st.integers(0, 40), st.booleans(),
    st.binary(max_size=400),
)  # fmt: skip
@example("yuv422", 2, 3, 0, False, bytes(64))
@example("nv12", 3, 2, 0, False, bytes(64))
@settings(deadline=None, max_examples=400)
def test_any_message_is_read_or_refused(
    encoding: str, height: int, width: int, step: int, big: bool, data: bytes
) -> None:
    message = Image(
        height=height, width=width, step=step, encoding=encoding, is_bigendian=int(big), data=data
    )
    for read in (rgb_from_msg, depth_from_msg, image_from_msg):
        try:
            array = read(message)
        except BadMessage as error:
            assert encoding in str(error)
            continue
        assert array.shape[1] == width
        assert array.shape[0] == height or encoding in ("nv12", "nv21")


# --- compressed ----------------------------------------------------------------------------------------


def packed(array: np.ndarray, form: str, extension: str = ".png") -> CompressedImage:
    return CompressedImage(format=form, data=cv2.imencode(extension, array)[1].tobytes())


@pytest.mark.parametrize(
    ("form", "extension", "slack"),
    [
        ("bgr8; jpeg compressed bgr8", ".jpg", 6),
        ("rgb8; jpeg compressed bgr8", ".jpg", 6),
        ("rgb8; png compressed bgr8", ".png", 0),
        ("bgra8; png compressed bgr8", ".png", 0),
        ("bayer_rggb8; jpeg compressed bgr8", ".jpg", 6),
        ("jpeg", ".jpg", 6),
        ("png", ".png", 0),
        ("", ".png", 0),
    ],
)
def test_compressed_colour(form: str, extension: str, slack: int) -> None:
    rgb = np.full((16, 24, 3), (210, 60, 20), np.uint8)
    got = rgb_from_msg(packed(rgb[..., ::-1], form, extension))
    assert got.shape == rgb.shape and np.abs(got.astype(int) - rgb).max() <= slack


def test_a_coder_that_was_given_rgb_is_undone() -> None:
    rgb = np.full((8, 8, 3), (210, 60, 20), np.uint8)
    assert np.array_equal(rgb_from_msg(packed(rgb, "rgb8; png compressed rgb8")), rgb)


def test_compressed_grey_and_mosaic() -> None:
    grey = np.arange(64, dtype=np.uint8).reshape(8, 8)
    assert np.array_equal(rgb_from_msg(packed(grey, "mono8; png compressed mono8")), np.dstack([grey] * 3))
    mosaic = np.tile(np.array([[250, 10], [10, 10]], np.uint8), (6, 6))
    got = rgb_from_msg(packed(mosaic, "bayer_rggb8; png compressed bayer_rggb8"))
    assert np.abs(got[2:-2, 2:-2].astype(int) - (250, 10, 10)).max() <= 1


def rvl(depth: np.ndarray) -> bytes:
    """Return the RVL encoding of an image (H, W) uint16, pixel by pixel as in the paper's listing."""
    values, nibbles, at, previous = depth.ravel().tolist(), [], 0, 0

    def number(value: int) -> None:
        while True:
            low, value = value & 7, value >> 3
            nibbles.append(low | (8 if value else 0))
            if not value:
                return

    while at < len(values):
        begin = at
        while at < len(values) and values[at] == 0:
            at += 1
        number(at - begin)
        begin = at
        while at < len(values) and values[at] != 0:
            at += 1
        number(at - begin)
        for value in values[begin:at]:
            delta, previous = value - previous, value
            number((delta << 1) ^ (delta >> 31))
    nibbles += [0] * (-len(nibbles) % 8)
    words = [
        sum(n << (28 - 4 * i) for i, n in enumerate(nibbles[w : w + 8])) for w in range(0, len(nibbles), 8)
    ]
    return struct.pack("<II", depth.shape[1], depth.shape[0]) + struct.pack(f"<{len(words)}I", *words)


HEADER = struct.pack("<iff", 0, 0.0, 0.0)


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None)
def test_compressed_depth_in_millimetres(
    rows: int, columns: int, holes: float, seed: int, with_rvl: bool
) -> None:
    rng = np.random.default_rng(seed)
    depth = rng.integers(0, 65536, (rows, columns)).astype(np.uint16)
    depth[rng.random(depth.shape) < holes] = 0
    body = rvl(depth) if with_rvl else cv2.imencode(".png", depth)[1].tobytes()
    names = ("16UC1; compressedDepth", "16UC1; compressedDepth png", "mono16; compressedDepth")
    for form in ("16UC1; compressedDepth rvl",) if with_rvl else names:
        got = depth_from_msg(CompressedImage(format=form, data=HEADER + body))
        np.testing.assert_allclose(got, depth * 0.001, rtol=1e-6)


@pytest.mark.parametrize("with_rvl", [False, True])
def test_compressed_depth_in_metres_is_inverse_depth(with_rvl: bool) -> None:
    # as in compressed_depth_image_transport: depth_quantization 100, depth_max 10
    a = 100.0 * 101.0
    b = 1.0 - a / 10.0
    depth = np.array([[0.4, 1.0, 2.5], [9.5, np.nan, 4.0]], np.float32)
    inverse = np.where(np.isfinite(depth), a / depth + b, 0).astype(np.uint16)
    body = rvl(inverse) if with_rvl else cv2.imencode(".png", inverse)[1].tobytes()
    form = f"32FC1; compressedDepth {'rvl' if with_rvl else 'png'}"
    got = depth_from_msg(CompressedImage(format=form, data=struct.pack("<iff", 0, a, b) + body))
    expected = np.nan_to_num(depth)
    assert np.abs(got - expected).max() < 0.02 and got[1, 1] == 0.0


def test_depth_in_a_png_alone() -> None:
    depth = np.array([[0, 1500], [65535, 3]], np.uint16)
    for form in ("16UC1; png compressed ", "png", "16UC1; compressedDepth"):
        np.testing.assert_allclose(depth_from_msg(packed(depth, form)), depth * 0.001, rtol=1e-6)


GREY8, DEPTH16 = np.zeros((4, 4), np.uint8), np.ones((4, 4), np.uint16)
UNSCALED = HEADER + packed(DEPTH16, "").data.tobytes()
HUGE = HEADER + struct.pack("<II", 2**31, 2**31)
RVL = "16UC1; compressedDepth rvl"


@pytest.mark.parametrize(
    ("message", "read", "why"),
    [
        (packed(GREY8, "16UC1; jpeg compressed ", ".jpg"), depth_from_msg, "a JPEG loses depth"),
        (packed(GREY8, "png"), depth_from_msg, "uint8"),
        (packed(DEPTH16, "png"), rgb_from_msg, "not a colour image"),
        (packed(DEPTH16, "16UC1; compressedDepth"), rgb_from_msg, "not a colour image"),
        (packed(DEPTH16, "32FC1; compressedDepth"), depth_from_msg, "no header"),
        (CompressedImage(format="32FC1; compressedDepth", data=UNSCALED), depth_from_msg, "scale"),
        (CompressedImage(format="h264", data=bytes(9)), rgb_from_msg, "'h264' is a video stream"),
        (CompressedImage(format="jpeg", data=b"garbage"), rgb_from_msg, "no JPEG or PNG"),
        (CompressedImage(format="jpeg"), rgb_from_msg, "0 bytes"),
        (CompressedImage(format=RVL, data=HEADER), depth_from_msg, "no RVL"),
        (CompressedImage(format=RVL, data=HUGE), depth_from_msg, "at most"),
    ],
)  # fmt: skip
def test_a_compressed_image_that_cannot_be_read_is_named(
    message: CompressedImage, read: Callable, why: str
) -> None:
    with pytest.raises(BadMessage, match=why):
        read(message)


@given(
    st.sampled_from(["16UC1; compressedDepth", "32FC1; compressedDepth rvl", RVL, "jpeg", "png", ""]),
    st.binary(max_size=80),
    st.sampled_from([b"", HEADER, HEADER + b"\x89PNG\r\n\x1a\n", HEADER + struct.pack("<II", 3, 3)]),
    st.integers(0, 200),
)  # fmt: skip
@settings(deadline=None, max_examples=300)
def test_any_compressed_message_is_read_or_refused(form: str, data: bytes, head: bytes, cut: int) -> None:
    whole = HEADER + cv2.imencode(".png", DEPTH16)[1].tobytes()
    for content in (head + data, whole[:cut] + data):
        for read in (rgb_from_msg, depth_from_msg):
            try:
                assert read(CompressedImage(format=form, data=content)).size
            except BadMessage:
                continue
