"""Tests of captions by a vision model for the memories of a running node."""

from __future__ import annotations

import contextlib
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
    """Return the content of the memory's database and log, as text; of those that are not just removed."""
    found = []
    for path in (folder / "memory").rglob("memory.db*"):
        with contextlib.suppress(FileNotFoundError):
            found.append(path.read_text(errors="replace"))
    return "".join(found)


def test_the_models_words_for_the_image_are_remembered(bed, processes, tmp_path):
    with chat_server((503, "{}"), json.dumps({"caption": CAPTION})) as server:
        street = Street(bed, processes, tmp_path / "memory")
        street.known = (thing(1, "chair", "gray chair", (8.0, 0.5, 0.5)),)
        street.start("keyframes", **{
            "shared.vision_model": True, "shared.endpoint.base_url": server.url, "shared.endpoint.model": "m",
            "captions.chat.timeout": 20.0, "captions.chat.rest": 0.0, "captions.chat.retries.tries": 0,
        })  # fmt: skip
        street.look_until(lambda: street.count("images.known") >= 1, "the first keyframe", image=True)
        street.walk(6.0)  # only new places give keyframes
        street.look_until(
            lambda: street.count("captions.captioned") >= 1 and street.count("store.records") >= 2,
            "a caption of the model",
            image=True,
        )
        assert street.count("captions.failed") >= 1, "and went on with the next"
        asked = json.dumps(server.requests[-1])
        assert "image_url" in asked and "gray chair" in asked, "the image, and what was composed"
        street.bed.until(
            lambda: "gray chair" in kept(tmp_path) and CAPTION in kept(tmp_path), "both are kept"
        )
