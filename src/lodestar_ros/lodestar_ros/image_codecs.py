"""Pixels of raw and compressed images. rosbags-image decodes most encodings; tables in this module cover the others.

Messages are read by their fields, so that those of rclpy and of rosbags work alike.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from lodestar_ros.conversions import BadMessage
from lodestar_ros.depth_codecs import decode_rvl, encoded_depth

#: Common encodings: dtype and channels. They are read without a library.
QUICK = {
    "mono8": (np.uint8, 1),
    "8UC1": (np.uint8, 1),
    "rgb8": (np.uint8, 3),
    "bgr8": (np.uint8, 3),
    "rgba8": (np.uint8, 4),
    "bgra8": (np.uint8, 4),
    "mono16": (np.uint16, 1),
    "16UC1": (np.uint16, 1),
    "32SC1": (np.int32, 1),
    "32FC1": (np.float32, 1),
}
#: OpenCV's names for untyped bytes, and the encodings that its drivers mean by them.
ASSUMED = {"8UC1": "mono8", "8UC3": "bgr8", "8UC4": "bgra8"}
#: Encodings of depth: metres per unit.
DEPTH_UNITS = {"16UC1": 0.001, "mono16": 0.001, "16SC1": 0.001, "32FC1": 1.0, "64FC1": 1.0}
#: Encodings whose buffer has 1.5 times the image's rows: brightness, then colour at half the resolution.
_PLANAR = ("nv12", "nv21")
_VIDEO = ("h264", "h265", "hevc", "vp8", "vp9", "av1", "theora", "mpeg")
_COLORS_READ = (
    "rgb8, bgr8, rgba8, bgra8, mono8, 8UC1, 8UC3, 8UC4, rgb16, bgr16, rgba16, bgra16, yuv422 (uyvy), "
    "yuv422_yuy2 (yuyv), nv12, nv21 and the eight of bayer_*"
)
_PNG = b"\x89PNG\r\n\x1a\n"


class _Layout(NamedTuple):
    dtype: Any
    channels: int
    is_color: bool  # rosbags-image can convert it to RGB
    is_plain: bool  # each element is one pixel's value, not part of a mosaic or of a packed pair


def is_compressed(message: Any) -> bool:
    """Return whether the message is a CompressedImage."""
    return hasattr(message, "format")


def encoding_of(message: Any) -> str:
    """Return the encoding of an image, or the format of a compressed one."""
    return message.format if is_compressed(message) else message.encoding


def assumption(message: Any) -> str:
    """Return in words the assumed encoding of an image with an ambiguous one; "" if it is unambiguous."""
    encoding = "" if is_compressed(message) else message.encoding
    if encoding not in ASSUMED or encoding == "8UC1":
        return ""
    return f"{encoding} does not name its colours; it is read as {ASSUMED[encoding]}"


def plain_array(message: Any) -> np.ndarray:
    """Return an (H, W) or (H, W, C) view of an image's bytes, in native byte order.

    Raises BadMessage for an encoding whose elements are not pixels, or if size and bytes do not match.
    """
    layout = _layout(message.encoding)
    if not layout.is_plain:
        raise BadMessage(
            f"encoding {message.encoding!r} is a colour mosaic or packed colour; numbers are wanted"
        )
    return _elements(message, layout, message.height)


def color_array(message: Any) -> np.ndarray:
    """Return (H, W, 3) uint8 RGB of a raw or compressed image. Raises BadMessage."""
    if is_compressed(message):
        return _compressed_color(message)
    encoding = ASSUMED.get(message.encoding, message.encoding)
    layout = _layout(message.encoding)
    if encoding != "mono8" and not layout.is_color:
        raise BadMessage(f"encoding {message.encoding!r} is not a colour image; {_COLORS_READ} are read")
    height = message.height
    if message.encoding in _PLANAR:
        height = _planar_rows(message)
    array = _elements(message, layout, height)
    if array.size == 0 or encoding == "rgb8":
        return array if encoding == "rgb8" else np.zeros((message.height, message.width, 3), np.uint8)
    return _to_rgb(array, encoding, message)


def depth_array(message: Any) -> np.ndarray:
    """Return (H, W) float32, metres, 0 = invalid, of a raw or compressed depth image. Raises BadMessage."""
    if is_compressed(message):
        return _compressed_depth(message)
    if message.encoding not in DEPTH_UNITS:
        known = ", ".join(f"{name} ({'mm' if unit < 1.0 else 'm'})" for name, unit in DEPTH_UNITS.items())
        raise BadMessage(f"encoding {message.encoding!r} is not depth; a depth image is one of {known}")
    return _metres(_elements(message, _layout(message.encoding), message.height), message.encoding)


# --- raw -----------------------------------------------------------------------------------------------


def _layout(encoding: str) -> _Layout:
    if encoding in QUICK:
        dtype, channels = QUICK[encoding]
        return _Layout(np.dtype(dtype), channels, channels > 1, True)
    from rosbags.image.image import Format, ImageError, to_cvtype

    try:
        _, kind, element, channels = to_cvtype(encoding)
    except ImageError:
        raise BadMessage(f"encoding {encoding!r} is not known; for colour {_COLORS_READ} are read") from None
    if not 1 <= channels <= 512:  # OpenCV's own limit
        raise BadMessage(f"encoding {encoding!r} has {channels} channels")
    plain = kind in (Format.GENERIC, Format.GRAY, Format.RGB, Format.BGR, Format.RGBA, Format.BGRA)
    colored = kind not in (Format.GENERIC, Format.GRAY) or encoding in ASSUMED
    return _Layout(np.dtype(element), channels, colored, plain)


def _elements(message: Any, layout: _Layout, height: int) -> np.ndarray:
    """Return (height, W) or (height, W, C) in native byte order; a view if rows are not padded. Raises BadMessage."""
    dtype, channels = layout.dtype, layout.channels
    shape = (height, message.width, channels) if channels > 1 else (height, message.width)
    if message.height == 0 or message.width == 0:
        return np.zeros(shape, dtype)
    row = message.width * channels * dtype.itemsize
    step = message.step or row
    data = np.frombuffer(message.data, np.uint8)
    if step < row or data.size < step * height:
        raise BadMessage(
            f"{message.width}x{message.height} {message.encoding} with step {step} needs "
            f"{max(step, row) * height} bytes and has {data.size}"
        )
    rows = data[: step * height].reshape(height, step)[:, :row]
    array = np.ascontiguousarray(rows).view(dtype.newbyteorder(">" if message.is_bigendian else "<"))
    if not array.dtype.isnative:
        array = array.astype(dtype)
    return array.reshape(shape)


def _planar_rows(message: Any) -> int:
    """Return the number of rows in the buffer of a planar image. Raises BadMessage.

    message.height is the height of the image, or, from Android, of the buffer.
    """
    if message.height % 2 or message.width % 2:
        raise BadMessage(f"{message.width}x{message.height} {message.encoding}: both sides must be even")
    rows, step = message.height * 3 // 2, message.step or message.width
    if len(message.data) >= rows * step or message.height % 3:
        return rows
    return message.height


def _to_rgb(array: np.ndarray, encoding: str, message: Any) -> np.ndarray:
    """Return (H, W, 3) uint8 RGB, converted by rosbags-image. Raises BadMessage."""
    import cv2
    from rosbags.image import ImageError, image_to_cvimage

    packed: Any = SimpleNamespace(
        height=array.shape[0], width=array.shape[1], encoding=encoding, data=array, is_bigendian=sys.byteorder == "big"
    )  # fmt: skip
    try:
        return image_to_cvimage(packed, "rgb8")
    except (ImageError, cv2.error) as error:
        raise BadMessage(
            f"{message.width}x{message.height} {message.encoding} cannot be made a colour image: {_brief(error)}"
        ) from error


def _metres(array: np.ndarray, encoding: str) -> np.ndarray:
    """Return depth values as (H, W) float32, metres, 0 = invalid."""
    unit = np.float32(DEPTH_UNITS[encoding])
    if array.dtype in (np.uint16, np.int16):
        metres = array.astype(np.float32)
        metres *= unit
        return metres if array.dtype == np.uint16 else np.maximum(metres, np.float32(0.0))
    sound = (array > 0.0) & (array <= np.finfo(np.float32).max)
    return np.where(sound, array, 0.0).astype(np.float32, copy=False)


# --- compressed ----------------------------------------------------------------------------------------


def _compressed_color(message: Any) -> np.ndarray:
    import cv2

    raw, _, packing = message.format.partition(";")
    raw, data = raw.strip(), np.frombuffer(message.data, np.uint8)
    if any(name in message.format.lower() for name in _VIDEO):
        raise BadMessage(f"format {message.format!r} is a video stream; publish images as jpeg or png")
    if "compresseddepth" in packing.lower() or raw in DEPTH_UNITS or _is_depth_png(data):
        raise BadMessage(f"format {message.format!r} is not a colour image: it is depth or 16-bit grey")
    mosaic = raw.startswith("bayer_") and "compressed bayer" in packing
    mode = cv2.IMREAD_GRAYSCALE if mosaic else cv2.IMREAD_COLOR
    image = _decode(message, data, mode | cv2.IMREAD_IGNORE_ORIENTATION)
    if mosaic:
        here = SimpleNamespace(height=image.shape[0], width=image.shape[1], encoding=raw)
        return _to_rgb(image, raw[:-2] + "8" if raw.endswith("16") else raw, here)
    if "compressed rgb" in packing:  # the publisher encoded RGB as if it were BGR, so OpenCV returns RGB
        return image
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def _compressed_depth(message: Any) -> np.ndarray:
    """Return (H, W) float32 metres of compressed depth: 12 bytes, then a 16-bit PNG or RVL; or a PNG alone."""
    import cv2

    raw, _, packing = message.format.partition(";")
    raw, packing, data = raw.strip(), packing.lower(), bytes(message.data)
    begin = data.find(_PNG, 0, 12 + len(_PNG))
    rvl = "rvl" in packing
    if begin < 0 and not rvl:
        raise BadMessage(
            f"format {message.format!r}, {len(data)} bytes: no PNG and no RVL, so no depth; "
            "publish compressedDepth (a JPEG loses depth)"
        )
    if rvl:
        values = decode_rvl(data[12:], message.format)
    else:
        values = _decode(message, np.frombuffer(data, np.uint8)[begin:], cv2.IMREAD_UNCHANGED)
    if values.ndim != 2 or values.dtype != np.uint16:
        told = f"{values.dtype} of shape {values.shape}"
        raise BadMessage(f"format {message.format!r} holds {told}, not depth of 16 bits")
    if raw == "32FC1":
        if begin == 0:
            raise BadMessage(f"format {message.format!r} has no header of 12 bytes, by which 32FC1 is scaled")
        return encoded_depth(values, data[:12], message.format)
    if raw not in ("", "16UC1", "mono16", "16SC1", "png", "image/png"):
        raise BadMessage(f"format {message.format!r}: depth is 16UC1 or 32FC1 before it is compressed")
    return _metres(values, "16UC1")


def _decode(message: Any, data: np.ndarray, mode: int) -> np.ndarray:
    import cv2

    try:
        image = cv2.imdecode(data, mode) if data.size else None
    except cv2.error as error:
        raise BadMessage(f"format {message.format!r}, {data.size} bytes: {_brief(error)}") from error
    if image is None:
        raise BadMessage(f"format {message.format!r}: {data.size} bytes are no JPEG or PNG that can be read")
    return image


def _is_depth_png(data: np.ndarray) -> bool:
    """Return whether the data is a 16-bit grey PNG."""
    head = data[:26].tobytes()
    return head.startswith(_PNG) and head[24:26] == b"\x10\x00"


def _brief(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][-120:] if str(error).strip() else type(error).__name__
