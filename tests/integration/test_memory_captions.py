"""A vision model captions what the running memory keeps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "lodestar" / "test" / "models"))

from chat_server import chat_server

from integration.street import Street, thing

pytest.importorskip("openai")

CAPTION = "A tabby cat sleeps on the radiator."


def kept(folder: Path) -> str:
    """Every byte of the memory's database and of its log, as text."""
    return "".join(path.read_text(errors="replace") for path in (folder / "memory").rglob("memory.db*"))


def test_the_models_words_for_the_image_are_remembered(bed, processes, tmp_path):
    with chat_server((503, "{}"), json.dumps({"caption": CAPTION})) as server:
        street = Street(bed, processes, tmp_path / "memory")
        street.known = (thing(1, "chair", "gray chair", (8.0, 0.5, 0.5)),)
        street.start("keyframes", **{
            "shared.vision_model": True, "shared.endpoint.base_url": server.url, "shared.endpoint.model": "m",
            "captions.chat.timeout": 20.0, "captions.chat.rest": 0.0, "captions.chat.retries.tries": 0,
        })  # fmt: skip
        street.look_until(lambda: street.count("images.known") >= 1, "the first keyframe", 60.0, image=True)
        street.walk(6.0)  # keyframes come with new places alone
        street.look_until(
            lambda: street.count("captions.captioned") >= 1 and street.count("store.records") >= 2,
            "a caption of the model",
            40.0,
            image=True,
        )
        assert street.count("captions.failed") >= 1, "and went on with the next"
        asked = json.dumps(server.requests[-1])
        assert "image_url" in asked and "gray chair" in asked, "the image, and what was composed"
        street.bed.until(
            lambda: "gray chair" in kept(tmp_path) and CAPTION in kept(tmp_path), "both are kept"
        )
