"""Tests of the parts of a question sent as text and as images."""

from __future__ import annotations

import base64

import pytest

from lodestar.models.chat_request import user_content

JPEG = b"\xff\xd8\xff\xe0 rest"
PNG = b"\x89PNG\r\n\x1a\n rest"


def test_a_text_stays_a_text():
    assert user_content("find it", ()) == "find it"


@pytest.mark.parametrize(("image", "media"), [(JPEG, "image/jpeg"), (PNG, "image/png")])
def test_images_follow_the_text_as_data(image, media):
    text, picture = user_content("find it", [image])
    assert text == {"type": "text", "text": "find it"}
    head, data = picture["image_url"]["url"].split(",")
    assert head == f"data:{media};base64"
    assert base64.b64decode(data) == image


@pytest.mark.parametrize("garbage", [b"", b"GIF89a", b"<svg/>"])
def test_what_is_no_image_is_refused(garbage):
    with pytest.raises(ValueError, match="JPEG or PNG"):
        user_content("find it", [garbage])
