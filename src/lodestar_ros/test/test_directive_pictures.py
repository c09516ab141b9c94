"""Tests of directives with pictures: described on a worker, then started or refused."""

from __future__ import annotations

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")


from directive_bench import Handle, make_bench

from lodestar.language.directive import StepKind
from lodestar.language.picture_goals import Described, item_of
from lodestar.models.chat import ChatUnavailable
from lodestar.perception.picture_config import PicturesConfig
from lodestar_interfaces.action import FollowDirective
from lodestar_ros.pictures import PictureDesk


@pytest.fixture
def bench(monkeypatch):
    return make_bench(monkeypatch)


def picture():
    out = io.BytesIO()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(out, "PNG")
    return out.getvalue()


def with_reader(bench, read):
    bench.clock = 1.0
    bench.server._pictures = PictureDesk(PicturesConfig(), read)
    return bench.server


def until_described(bench, handle):
    end = time.monotonic() + PATIENCE
    while handle.result is None and not bench.loop.started:
        bench.server.check()
        assert time.monotonic() < end, "it was never described"
        time.sleep(0.005)


def chair(image):
    return item_of(Described("chair", "red chair", ("desk",)))


def test_a_picture_alone_is_a_directive(bench):
    server, handle = with_reader(bench, chair), Handle("", picture())
    server._on_accepted(handle)
    until_described(bench, handle)
    (step,) = bench.loop.directive.steps
    assert step.kind is StepKind.FIND and step.target == "red chair"


def test_words_beside_a_picture_keep_their_constraints(bench):
    server, handle = (
        with_reader(bench, chair),
        Handle("find this thing, keep away from the stairs", picture()),
    )
    server._on_accepted(handle)
    until_described(bench, handle)
    (step,) = bench.loop.directive.steps
    (constraint,) = bench.loop.directive.constraints
    assert step.target == "red chair" and constraint.item.phrase == "stairs"


def test_a_picture_of_what_is_kept_away_from_is_refused(bench):
    server, handle = with_reader(bench, chair), Handle("find this, keep away from chairs", picture())
    server._on_accepted(handle)
    until_described(bench, handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD
    assert 'keep away from "chair"' in handle.result.error_msg and bench.loop.started == []


def unsure(image):
    raise ChatUnavailable("the endpoint answered 503")


def broken(image):
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("read", "images", "why"),
    [
        (None, [b"find the chair"], "cannot be read"), (None, [b""], "empty"),
        (None, [picture()], "describe the target"),
        (unsure, [picture()], "503"), (broken, [picture()], "RuntimeError"), (chair, [picture()] * 9, "at most 5"),
    ],
)  # fmt: skip
def test_a_picture_that_cannot_be_used_has_its_code_and_a_reason(bench, read, images, why):
    server, handle = with_reader(bench, read), Handle("", *images)
    server._on_accepted(handle)
    until_described(bench, handle)
    assert handle.ending == "aborted" and handle.result.error_code == FollowDirective.Result.BAD_IMAGE
    assert why in handle.result.error_msg and bench.loop.started == []


def test_a_directive_that_is_cancelled_while_its_picture_is_read_never_begins(bench):
    release = threading.Event()

    def slow(image):
        release.wait(5.0)
        return chair(image)

    server, handle = with_reader(bench, slow), Handle("", picture())
    server._on_accepted(handle)
    server.check()
    assert handle.result is None and bench.loop.started == []  # the server does not wait for the model
    handle.is_cancel_requested = True
    release.set()
    until_described(bench, handle)
    assert handle.ending == "canceled" and bench.loop.started == []


def test_words_that_are_not_understood_are_refused_with_a_picture_too(bench):
    server, handle = with_reader(bench, chair), Handle("xyzzy !!", picture())
    server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD
