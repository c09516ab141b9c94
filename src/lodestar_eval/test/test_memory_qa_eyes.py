"""Tests of the vision model with ground truth: it knows the true content of its pictures and nothing else."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import replace

import cv2
import numpy as np
import pytest
from embedders import LetterEmbedder
from small_building import TOUR, small_world

from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar.models.phrases import PhraseBook
from lodestar_eval.looking_server import looking_server
from lodestar_eval.memory_qa import tours
from lodestar_eval.memory_qa.answerer import LookingAnswerer, OwnAnswerer
from lodestar_eval.memory_qa.eyes import TourEyes
from lodestar_eval.memory_qa.happenings import HappeningConfig
from lodestar_eval.memory_qa.questions import Asked
from lodestar_eval.memory_qa.tours import tour_of
from lodestar_eval.memory_qa.truth import MIN_PIXELS, NEAR, TourTruth
from lodestar_eval.memory_qa.visual_questions import tells_material
from lodestar_eval.phrase_book import phrase_book

EVENTS = HappeningConfig(moved=1, removed=0, added=0, apart=8.0, pause=4.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return the recording of a tour of 40 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tours, "world_from_spec", lambda spec, seed: small_world())
        folder = tmp_path_factory.mktemp("tours") / "mine"
        return tour_of(
            "office", 1, lambda: PhraseBook(LetterEmbedder()), folder, lambda text: None,
            replace(TOUR, limit=40.0), EVENTS,
        )  # fmt: skip


def seen_in(recording, keyframe):
    """Return the objects in view of a keyframe, by the tour's truth."""
    truth = TourTruth(recording.world, recording.glances)
    glance = min(truth.glances, key=lambda g: abs(g.stamp - keyframe.stamp))
    return {i for i, (pixels, metres) in glance.things.items() if pixels >= MIN_PIXELS and metres <= NEAR}


def prompt(question, *ids):
    listed = "\n".join(f"k{i}: 3 s ago, from (1.0, 2.0), things []" for i in ids)
    return f'Question: "{question}"\nNotes:\nnothing was found\nPictures:\n{listed}\nThis is the last round'


def test_it_tells_what_a_thing_in_the_picture_is_made_of_and_of_no_other(recording):
    eyes, store = TourEyes(recording), recording.stream.keyframes()
    things = {thing.id: thing for thing in recording.world.objects}
    told = 0
    for keyframe in store.keyframes():
        image = annotated_jpeg(store.get(keyframe.id)[1], keyframe.instances)
        shown = seen_in(recording, keyframe)
        for thing in things.values():
            alike = [one for one in things.values() if one.caption == thing.caption]
            said = eyes.look(prompt(f"what is the {thing.caption} made of?", keyframe.id), [image])
            if len(alike) == 1 and thing.id in shown and not recording.world.events:
                assert [claim["thing"] for claim in said["claims"]] == [thing.material]
                told += 1
            elif thing.id not in shown and len(alike) == 1:
                assert said["claims"] == []
    assert eyes.unknown == 0
    assert told or recording.world.events


def test_a_picture_that_is_none_of_the_tour_is_not_known(recording):
    eyes = TourEyes(recording)
    noise = np.random.default_rng(1).integers(0, 255, (240, 320, 3), np.uint8)
    image = cv2.imencode(".jpg", noise)[1].tobytes()
    assert eyes.look(prompt("is there a chair?", 1), [image]) == {"calls": [], "claims": [], "yes": None}
    assert eyes.unknown == 1
    assert eyes.look("no question at all", [])["claims"] == []


def test_the_server_speaks_the_protocol_and_hands_the_pictures_on():
    got = []

    def look(text, images):
        got.append((text, images))
        return {"yes": True}

    url = "data:image/jpeg;base64,AAEC"
    content = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    with looking_server(look) as address:
        request = urllib.request.Request(f"{address}/chat/completions", json.dumps(body).encode())
        answer = json.load(urllib.request.urlopen(request, timeout=60.0))
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"yes": True}
    assert answer["choices"][0]["finish_reason"] == "stop" and answer["usage"]["prompt_tokens"] > 1000
    assert got == [("what?", [b"\0\1\2"])]


def test_the_robot_answers_by_the_picture_what_its_text_does_not_tell(recording):
    pytest.importorskip("openai")
    book = phrase_book()
    looking, own = LookingAnswerer(book, recording), OwnAnswerer(book)
    memory = looking.remember(recording.stream)
    store = recording.stream.keyframes()
    counts = {}
    for keyframe in store.keyframes():
        for identity in seen_in(recording, keyframe):
            counts[identity] = counts.get(identity, 0) + 1
    moved = {event.object_id for event in recording.world.events}
    captions = [thing.caption for thing in recording.world.objects]
    known = [
        thing for thing in recording.world.objects
        if thing.id in counts and thing.id not in moved and captions.count(thing.caption) == 1
        and not tells_material(thing.caption)
    ]  # fmt: skip
    asked = [
        Asked(str(i), f"what is the {thing.caption} made of?", recording.stream.end)
        for i, thing in enumerate(known)
    ]
    seen = looking.answer_all(memory, asked, "eyes")
    plain = own.answer_all(memory, asked, "full")
    assert not any(answer.known and answer.words for answer in plain)
    right = [answer for answer, thing in zip(seen, known) if answer.words == {thing.material}]
    wrong = [answer for answer in seen if answer.seen and answer not in right]
    assert len(right) >= 0.5 * len(known) and not wrong
    assert all("A model sees this" in answer.text for answer in right)
