"""Tests of captions by a vision model in the background: after any fault a segment still has a caption."""

from __future__ import annotations

import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from memory_builders import memory
from waiting import PATIENCE

from lodestar.memory.errors import NoSuchMemory
from lodestar.memory.records import Source
from lodestar.memory.vision_captions import (
    ComposedCaptions,
    SegmentCaptionConfig,
    VisionCaptions,
    make_vision_captions,
    read_caption,
)
from lodestar.models.chat import BadAnswer, BudgetExceeded, ChatUnavailable
from lodestar.models.config import VisionChatConfig

IMAGE = b"\xff\xd8jpeg"


class FakeChat:
    """A chat model with an answer or an error."""

    def __init__(self, answer='{"caption": "A red mug stands on a desk."}'):
        self.answer, self.asked = answer, []

    def complete(self, system, user, schema, images=(), shorter=None):
        self.asked.append((system, user, images))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def picture(memory):
    return IMAGE


def segment(number, text="There is a mug."):
    return replace(memory(0, text, 3.0 * number), keyframe_ids=(7,))


def texts(memories):
    return [each.text for each in memories]


def test_a_caption_replaces_the_composed_one():
    chat = FakeChat()
    captions = VisionCaptions(chat, picture)
    captions.offer(segment(0))
    assert captions.ready(4.0) == []
    assert captions.work()
    (made,) = captions.ready(4.0)
    assert (made.text, made.source) == ("A red mug stands on a desk.", Source.CAPTIONER)
    assert made.start == 0.0
    assert chat.asked[0][2] == (IMAGE,)
    assert json.loads(chat.asked[0][1]) == {"segment": "There is a mug."}
    assert not captions.work()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no json",
        "[]",
        '{"caption": 7}',
        '{"caption": ""}',
        '{"other": "x"}',
        '{"caption": "... !"}',
        ChatUnavailable("away"),
        BadAnswer("bad"),
        ValueError("no picture"),
    ],
)
def test_a_bad_or_missing_answer_leaves_the_composed_caption(answer):
    captions = VisionCaptions(FakeChat(answer), picture)
    captions.offer(segment(0))
    captions.work()
    (made,) = captions.ready(4.0)
    assert (made.text, made.source) == ("There is a mug.", Source.DETECTOR)
    assert captions.counts["refused"] + captions.counts["failed"] == 1
    assert captions.last_failure


def test_a_late_answer_leaves_the_composed_caption():
    asked, answered = threading.Event(), threading.Event()

    class Slow(FakeChat):
        def complete(self, *arguments):
            asked.set()
            assert answered.wait(PATIENCE)
            return super().complete(*arguments)

    captions = VisionCaptions(Slow(), picture)
    captions.offer(segment(0))
    worker = threading.Thread(target=captions.work)
    worker.start()
    assert asked.wait(PATIENCE)
    (made,) = captions.ready(100.0)
    answered.set()
    worker.join(PATIENCE)
    assert made.text == "There is a mug."
    assert captions.ready(math.inf) == []
    assert captions.counts["late"] == 1
    assert captions.counts["captioned"] == 0


def test_segments_leave_in_their_order_and_none_is_lost():
    captions = VisionCaptions(FakeChat(), picture, SegmentCaptionConfig(waiting=2))
    for number in range(5):
        captions.offer(segment(number, f"segment number {number} here"))
    captions.work()  # describes the newest segment
    early = captions.ready(15.0)
    late = captions.ready(math.inf)
    starts = [each.start for each in (*early, *late)]
    assert starts == [0.0, 3.0, 6.0, 9.0, 12.0]
    assert [each.source for each in (*early, *late)].count(Source.CAPTIONER) == 1
    assert captions.counts["late"] == 4


def test_a_segment_without_a_picture_does_not_wait():
    captions = VisionCaptions(FakeChat(), picture)
    captions.offer(replace(segment(0), keyframe_ids=()))
    assert texts(captions.ready(0.0)) == ["There is a mug."]
    assert captions.counts["no_image"] == 1


def test_a_picture_that_is_gone_leaves_the_composed_caption():
    captions = VisionCaptions(FakeChat(), lambda memory: b"")
    captions.offer(segment(0))
    assert captions.waiting and captions.work() and not captions.waiting
    assert texts(captions.ready(0.0)) == ["There is a mug."]
    assert captions.counts["no_image"] == 1


def test_a_budget_that_is_used_up_leaves_the_composed_caption_and_is_told():
    chat = FakeChat(BudgetExceeded("today's 2000 requests are used up"))
    captions = VisionCaptions(chat, picture)
    captions.offer(segment(0))
    captions.work()
    assert texts(captions.ready(0.0)) == ["There is a mug."]
    assert captions.counts["over_budget"] == 1 and "2000 requests" in captions.last_failure


def test_two_threads_never_ask_about_the_same_segment_and_the_rate_holds():
    chat = FakeChat()
    captions = VisionCaptions(chat, picture, SegmentCaptionConfig(per_minute=0.0))
    for number in range(3):
        captions.offer(segment(number, f"segment {number} here"))
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: captions.work(), range(4))) == [False, True, True, True]
    assert len({text for _, text, _ in chat.asked}) == 3
    slow = VisionCaptions(chat, picture, SegmentCaptionConfig(per_minute=30.0))
    slow.offer(segment(0))
    slow.offer(segment(1))
    assert slow.work() and not slow.work() and slow.waiting


class Stored:
    """Store of segments with composed captions, the newest first."""

    def __init__(self, *memories):
        self.memories, self.captions, self.looks = list(memories), {}, 0

    def uncaptioned(self, limit):
        self.looks += 1
        return [memory for memory in self.memories if memory.id not in self.captions][:limit]

    def recaption(self, identity, text):
        if all(memory.id != identity for memory in self.memories):
            raise NoSuchMemory("it was forgotten")
        self.captions[identity] = text


def stored(*ids):
    return Stored(*(replace(segment(i, f"segment {i} here"), id=i) for i in ids))


def test_segments_that_were_stored_without_a_models_words_are_captioned_while_none_waits():
    chat, store = FakeChat(), stored(9, 8)
    captions = VisionCaptions(chat, picture, SegmentCaptionConfig(per_minute=0.0), lambda: store)
    captions.offer(segment(10, "the newest"))
    assert [captions.work() for _ in range(4)] == [True, True, True, False]
    assert [json.loads(text)["segment"] for _, text, _ in chat.asked] == [
        "the newest", "segment 9 here", "segment 8 here",
    ]  # fmt: skip
    assert set(store.captions) == {8, 9} and captions.counts["caught_up"] == 2
    assert captions.counts["captioned"] == 1 and store.looks == 1


def test_an_endpoint_that_was_gone_captions_later_and_what_is_refused_is_not_asked_again():
    now, chat, store = [0.0], FakeChat(ChatUnavailable("gone")), stored(9, 8)
    config = SegmentCaptionConfig(per_minute=0.0)
    captions = VisionCaptions(chat, picture, config, lambda: store, lambda: now[0])
    assert captions.work() and not captions.work(), "it rests"
    now[0] += 31.0
    chat.answer = "{}"
    assert [captions.work() for _ in range(3)] == [True, True, False]
    assert len(chat.asked) == 3 and captions.counts["refused"] == 2
    now[0] += 31.0
    assert not captions.work() and store.captions == {}


def test_a_segment_that_is_forgotten_while_it_is_asked_about_stays_forgotten():
    store = stored(9)

    class Forgets(FakeChat):
        def complete(self, *given, **named):
            store.memories.clear()
            return super().complete(*given, **named)

    captions = VisionCaptions(Forgets(), picture, store=lambda: store)
    assert captions.work() and store.captions == {} and "forgotten" in captions.last_failure
    assert not VisionCaptions(FakeChat(), picture, store=lambda: None).work()


def test_threads_that_catch_up_ask_about_each_segment_once():
    chat, store = FakeChat(), stored(*range(20, 0, -1))
    captions = VisionCaptions(chat, picture, SegmentCaptionConfig(per_minute=0.0), lambda: store)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: captions.work(), range(40)))
    assert len(chat.asked) == 20 and len(store.captions) == 20


def test_words_of_a_model_are_one_bounded_line():
    said = read_caption(json.dumps({"caption": "a\x00 red\n mug " + "word " * 500}), 80)
    assert said.startswith("a red mug word")
    assert len(said.split()) == 80
    assert said.isprintable()


def test_composed_captions_pass_at_once_and_once():
    captions = ComposedCaptions()
    captions.offer(segment(0))
    assert texts(captions.ready(0.0)) == ["There is a mug."]
    assert captions.ready(0.0) == []


def test_an_endpoint_that_does_not_answer_leaves_the_composed_caption(monkeypatch):
    monkeypatch.setenv("NO_SUCH_KEY_OF_A_TEST", "k")
    chat = VisionChatConfig(
        base_url="http://127.0.0.1:9/v1", timeout=0.3, patience=0.5, key_variable="NO_SUCH_KEY_OF_A_TEST"
    )
    assert make_vision_captions(SegmentCaptionConfig(chat=chat), picture) is None
    made = make_vision_captions(SegmentCaptionConfig(True, chat=chat), picture)
    assert made is not None
    captions, _ = made
    captions.offer(segment(0))
    captions.work()
    assert texts(captions.ready(0.0)) == ["There is a mug."]
    assert captions.counts["failed"] + captions.counts["refused"] == 1


@pytest.mark.parametrize(
    "wrong", [{"parallel": 0}, {"parallel": 99}, {"per_day": -1}, {"per_minute": float("nan")}]
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="parallel must be 1 to 16"):
        SegmentCaptionConfig(**wrong)
