"""Tests of untrusted picture files: invalid ones are refused with a message, valid ones are bounded in size."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture, encode_picture


def file_of(rgb, kind="PNG", **options):
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, kind, **options)
    return out.getvalue()


def halves(height=40, width=60):
    rgb = np.zeros((height, width, 3), np.uint8)
    rgb[:, : width // 2] = (200, 30, 30)
    return rgb


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_its_pixels(kind):
    rgb = decode_picture(file_of(halves(), kind))
    assert rgb.shape == (40, 60, 3) and rgb.dtype == np.uint8
    assert rgb[20, 10, 0] > 150 and rgb[20, 50, 0] < 50


def test_grey_and_transparent_pictures_become_rgb():
    assert decode_picture(file_of(np.full((20, 20), 7, np.uint8))).shape == (20, 20, 3)
    assert decode_picture(file_of(np.full((20, 20, 4), 7, np.uint8))).shape == (20, 20, 3)


def test_a_large_picture_is_made_smaller_and_a_turned_one_upright():
    assert max(decode_picture(file_of(halves(900, 3000), "JPEG")).shape) == 1024
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn by a quarter
    assert decode_picture(file_of(halves(), "JPEG", exif=exif)).shape == (60, 40, 3)


def png_that_claims(width, height):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"find the chair", "cannot be read"),
        (b"GIF89a" + b"\0" * 100, "cannot be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "cannot be read"),
        (file_of(halves())[:60], "cannot be read"),
        (file_of(halves(400, 400), "JPEG")[:500], "cannot be read"),
        (png_that_claims(100_000, 100_000), "too many"),
        (png_that_claims(64, 64), "cannot be read"),
        (file_of(halves(4, 4)), "too few"),
    ],
)
def test_what_is_no_picture_is_refused_with_words(data, why):
    with pytest.raises(BadPicture, match=why):
        decode_picture(data)


def test_a_file_that_is_too_large_is_not_even_opened():
    with pytest.raises(BadPicture, match="at most"):
        decode_picture(b"\xff\xd8\xff" + b"\0" * 2_000_000, PictureConfig(max_bytes=1_000_000))


def test_what_is_encoded_can_be_decoded():
    assert np.abs(decode_picture(encode_picture(halves())).astype(int) - halves()).mean() < 10
    for bad in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), float), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(ValueError, match="RGB"):
            encode_picture(bad)
