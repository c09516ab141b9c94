"""Decoders of the depth formats of compressed_depth_image_transport: inverse depth, and RVL.

RVL: A. D. Wilson, "Fast Lossless Depth Image Compression", ISS 2017.
"""

from __future__ import annotations

import struct

import numpy as np

from lodestar_ros.conversions import BadMessage

_MOST_PIXELS = 2**26


def encoded_depth(values: np.ndarray, header: bytes, name: str) -> np.ndarray:
    """Return (H, W) float32, metres, 0 = invalid, of inverse depth (H, W) uint16, 0 = invalid.

    header: 12 bytes, an enumeration and the parameters A and B of depth = A / (value - B). name: format in
    error messages.
    Raises BadMessage.
    """
    _, a, b = struct.unpack("<iff", header)
    if not (np.isfinite(a) and np.isfinite(b) and a > 0.0):
        raise BadMessage(f"format {name!r}: the header's scale of 32FC1 is {a:g}, {b:g}")
    shifted = values.astype(np.float32) - np.float32(b)
    sound = (values > 0) & (shifted > 0.0)
    depth = np.divide(np.float32(a), shifted, out=np.zeros(values.shape, np.float32), where=sound)
    return np.where(np.isfinite(depth), depth, np.float32(0.0))


def decode_rvl(data: bytes, name: str) -> np.ndarray:
    """Return (H, W) uint16 of RVL data: columns and rows (uint32), then the stream. Raises BadMessage.

    name: format in error messages. The stream is a sequence of numbers with 3 bits per nibble, low bits first; the
    fourth bit says that more nibbles follow. Nibbles lie in 32-bit words, the highest first. The numbers repeat:
    count of zeros, count of non-zeros, then a difference for each non-zero.
    """
    if len(data) < 8:
        raise BadMessage(f"format {name!r}: {len(data)} bytes are no RVL")
    columns, rows = struct.unpack("<II", data[:8])
    if columns * rows > _MOST_PIXELS:
        raise BadMessage(f"format {name!r}: {columns}x{rows} pixels; at most {_MOST_PIXELS} are read")
    numbers = _numbers(data[8 : len(data) - len(data) % 4])
    depth = np.zeros(rows * columns, np.uint16)
    place = at = 0
    previous = 0
    while place < depth.size:
        if at + 2 > len(numbers):
            raise BadMessage(f"format {name!r}: the RVL ends after {place} of {depth.size} pixels")
        zeros, count = int(numbers[at]), int(numbers[at + 1])
        if zeros < 0 or count < 0:  # an overlong number has overflowed
            raise BadMessage(f"format {name!r}: the RVL is damaged")
        coded = numbers[at + 2 : at + 2 + count]
        place, at = place + zeros, at + 2 + count
        if len(coded) < count or place + count > depth.size or zeros + count == 0:
            raise BadMessage(f"format {name!r}: the RVL does not fit {columns}x{rows} pixels")
        if count:
            values = previous + np.cumsum((coded >> 1) ^ -(coded & 1))
            depth[place : place + count] = values.astype(np.uint16)
            previous, place = int(values[-1]), place + count
    return depth.reshape(rows, columns)


def _numbers(data: bytes) -> np.ndarray:
    """Return (N,) int64, the variable-length numbers of an RVL stream."""
    words = np.frombuffer(data, "<u4")
    nibbles = ((words[:, None] >> np.arange(28, -1, -4, dtype=np.uint32)) & 15).ravel().astype(np.int64)
    ends = np.flatnonzero(nibbles < 8)  # the last nibble of each number
    if not len(ends):
        return ends
    begins = np.concatenate(([0], ends[:-1] + 1))
    nibbles = nibbles[: ends[-1] + 1] & 7
    digit = np.arange(len(nibbles)) - np.repeat(begins, ends - begins + 1)
    return np.add.reduceat(nibbles << np.minimum(3 * digit, 60), begins)
