"""Encoding of image files for a model."""

from __future__ import annotations

import base64


def media_type(image: bytes) -> str:
    """Return the media type of a JPEG or PNG file from its first bytes. Raises ValueError for other files."""
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    raise ValueError("an image for the language model must be a JPEG or PNG file")


def data_url(image: bytes) -> str:
    """Return a JPEG or PNG file as a data URL. Raises ValueError for other files."""
    return f"data:{media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"
