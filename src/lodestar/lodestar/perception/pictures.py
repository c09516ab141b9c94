"""Decoding of uploaded picture files: untrusted bytes become a bounded RGB image or an error for the user."""

from __future__ import annotations

import io
import warnings

import cv2
import numpy as np
from PIL import Image, ImageOps

from lodestar.perception.picture_config import PictureConfig

PICTURE_MAX_PIXELS = 50_000_000  # most pixels before the picture is scaled down; chosen
PICTURE_SIDE = 1024  # pixels of the longer side after scaling; chosen: above the detectors' 640
PICTURE_MIN_SIDE = 16  # pixels of the shorter side below which nothing is recognised; chosen

FORMATS = ("JPEG", "PNG", "WEBP")


class BadPicture(ValueError):
    """Raised if the bytes are no usable picture, or nothing in it is recognised; the message says what to send."""


_LIMITS = PictureConfig()


def decode_picture(data: bytes, config: PictureConfig = _LIMITS) -> np.ndarray:
    """Return an upright (H, W, 3) uint8 RGB image with at most PICTURE_SIDE pixels per side.

    Raises BadPicture. The size is read from the header before decoding, so that a small file cannot exhaust
    memory.
    """
    if not data:
        raise BadPicture("the picture is empty; send a JPEG, PNG or WebP file")
    if len(data) > config.max_bytes:
        limit = config.max_bytes // 1_000_000
        raise BadPicture(
            f"the picture has {len(data) / 1e6:.0f} MB, at most {limit} MB are read; send a smaller one"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            width, height = picture.size
            if width * height > PICTURE_MAX_PIXELS:
                raise BadPicture(
                    f"the picture has {width} x {height} pixels, which is too many; send a smaller one"
                )
            if min(width, height) < PICTURE_MIN_SIDE:
                raise BadPicture(
                    f"the picture has {width} x {height} pixels, which is too few to recognise anything"
                )
            picture.draft("RGB", (PICTURE_SIDE, PICTURE_SIDE))
            picture.load()
            picture.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
            upright = ImageOps.exif_transpose(picture).convert("RGB")
    except BadPicture:
        raise
    except Image.DecompressionBombError as error:
        raise BadPicture("the picture has too many pixels; send a smaller one") from error
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        raise BadPicture("the picture cannot be read; send a JPEG, PNG or WebP file") from error
    return np.asarray(upright, np.uint8)


def encode_picture(rgb: np.ndarray, quality: int = 85) -> bytes:
    """Return an (H, W, 3) uint8 RGB image as a JPEG file. Raises ValueError."""
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8 or rgb.size == 0:
        raise ValueError(f"an RGB image is (H, W, 3) uint8, not {rgb.shape} {rgb.dtype}")
    done, data = cv2.imencode(
        ".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality]
    )
    if not done:
        raise ValueError("the image cannot be encoded")
    return data.tobytes()
