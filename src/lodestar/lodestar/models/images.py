"""Image files as they go to a model."""

from __future__ import annotations

import base64


def media_type(image: bytes) -> str:
    """Of a JPEG or PNG file, by its first bytes. Raises ValueError for anything else."""
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    raise ValueError("an image for the language model must be a JPEG or PNG file")


def data_url(image: bytes) -> str:
    """A JPEG or PNG file as a URL. Raises ValueError for anything else."""
    return f"data:{media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"
