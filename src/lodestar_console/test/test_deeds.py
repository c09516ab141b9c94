"""Tests that each request of a person or agent has a sentence for the timeline."""

from __future__ import annotations

import typing

import msgspec
import pytest

from lodestar_console import protocol
from lodestar_console.web.deeds import sentence

QUIET = (protocol.Ping, protocol.Resync, protocol.Details, protocol.At)
KINDS = [kind for kind in typing.get_args(protocol.PageMessage) if kind not in QUIET]
VALUES = {"action": "take", "outline": [[0, 0], [1, 0], [1, 1]], "start": [0, 0], "end": [1, 0], "choice": 1,
          "room": 1, "entry": 1, "x": 1.0, "y": 1.0}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_request_that_does_something_has_a_sentence(kind):
    given = {"type": kind.__struct_config__.tag, "id": 1}
    for field in msgspec.structs.fields(kind):
        if field.required and field.name != "id":
            given[field.name] = VALUES.get(field.name, "7")
    said = sentence(msgspec.convert(given, kind))
    assert said and said[0].islower() and "None" not in said and "True" not in said


def test_what_only_looks_is_no_news():
    assert sentence(protocol.SendDirective(id=1, text="find the chair", dry_run=True)) == ""
    assert sentence(protocol.At(id=1, time=2.0)) == ""
