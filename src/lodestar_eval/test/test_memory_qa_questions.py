"""Tests of questions made from the truth of a tour of a small world."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from small_building import (
    BIN,
    BLUE_BOX,
    CART,
    CHAIR_A,
    CHAIR_B,
    LAPTOP,
    MOVED,
    MUG,
    TAKEN,
    changing_world,
    glances,
)

from lodestar.language.grammar import parse_query
from lodestar.models.english import with_article
from lodestar.perception.frames import SegmentedFrame
from lodestar_eval.memory_qa.drafts import Maker
from lodestar_eval.memory_qa.question_set import TooFewQuestions, questions_of
from lodestar_eval.memory_qa.questions import KINDS, Picture
from lodestar_eval.memory_qa.reference_answerers import Guesser, Oracle
from lodestar_eval.memory_qa.scoring import judge
from lodestar_eval.memory_qa.truth import TourTruth, clipped, joined
from lodestar_eval.memory_qa.wordings import BOTH, DEVELOPMENT, RESERVED, plural, worded, wordings
from lodestar_sim.reference_truth import Scene

COUNTS = {"spatial": 12, "yes_no": 12, "descriptive": 10, "temporal": 8, "picture": 4}


def blank(stay):
    """Return a picture that shows nothing, as a camera would take it."""
    return Picture(np.zeros((4, 4, 3), np.uint8), SegmentedFrame(0.0, np.zeros((4, 4), np.uint16), ()))


def asked(which=DEVELOPMENT, seed=0, counts=None):
    return questions_of(changing_world(), glances(), seed, which, counts or COUNTS, blank)


@pytest.fixture(scope="module")
def truth():
    return TourTruth(changing_world(), glances())


def test_a_thing_that_was_moved_has_two_stays(truth):
    first, second = truth.stays[CART]
    assert (first.end, second.start, second.end) == (MOVED, MOVED, truth.end)
    assert first.centre[:2] == pytest.approx((5.0, 3.5), abs=0.1)
    assert second.centre[:2] == pytest.approx((6.2, 0.5), abs=0.1)
    assert truth.stays[BIN][-1].end == TAKEN and not truth.standing(truth.stays[BIN][-1])


def test_looks_are_the_frames_that_show_a_thing_nearby(truth):
    for identity in (LAPTOP, CART, BLUE_BOX):
        spans = truth.looks(identity)
        assert spans
        for glance in truth.glances:
            pixels, distance = glance.things.get(identity, (0, 0.0))
            if pixels >= 60 and distance <= 5.0:
                assert any(a <= glance.stamp <= b for a, b in spans)
    assert all(b <= TAKEN for _, b in truth.looks(BIN))
    assert not truth.looks(MUG)  # hidden from a low camera by the edge of the desk


def test_frames_join_to_looks_over_short_gaps():
    assert joined(np.array([1.0, 1.5, 3.0, 9.0])) == [(1.0, 3.0), (9.0, 9.0)]
    assert joined(np.zeros(0)) == []
    assert clipped([(1.0, 3.0), (9.0, 9.5)], 2.0, 9.2) == [(2.0, 3.0), (9.0, 9.2)]


def test_rooms_are_visited_in_turn(truth):
    rooms = [room for room, _, _ in truth.visits]
    assert set(rooms) == {1, 2} and all(a != b for a, b in pairwise(rooms))


def test_there_are_as_many_questions_of_each_kind_as_wanted():
    questions = asked()
    assert {kind: sum(q.kind == kind for q in questions) for kind in KINDS} == COUNTS
    assert len({q.asked.id for q in questions}) == len(questions)
    yes = [q.gold.yes for q in questions if q.kind == "yes_no"]
    assert sum(yes) == len(yes) / 2
    assert all((q.asked.picture is not None) == (q.kind == "picture") for q in questions)


def test_a_described_thing_is_the_only_one_that_the_words_mean(truth):
    """The same words, parsed as a query and evaluated in the true scene, denote the gold object alone."""
    world, checked = changing_world(), 0
    pattern = re.compile(
        r"(?:Where is|Go to|Can you take me to) (the (?:blue|red|gray|white|green|orange) .+?)[.?]$"
    )
    for seed in range(3):
        for q in asked(seed=seed):
            words = pattern.match(q.asked.text)
            if words is None or q.form not in ("where_now", "take_me"):
                continue
            scene = Scene(world, 149.0)
            found = scene.matching(parse_query(words.group(1))[0])
            assert len(found) == 1, q.asked.text
            low, high = scene.boxes[found[0]]
            assert np.linalg.norm((low + high) / 2.0 - q.gold.places[0]) < 0.01, q.asked.text
            checked += 1
    assert checked >= 5


def test_gold_answers_are_those_of_the_world():
    found = {(q.form, q.asked.text): q.gold for seed in range(4) for q in asked(seed=seed)}
    counts = [g for (form, text), g in found.items() if form.startswith("count_") and "chairs" in text]
    assert counts and all(g.number == 2.0 for g in counts)
    colors = [g for (form, text), g in found.items() if form == "color" and "laptop" in text]
    assert colors and all(g.words == {"gray"} for g in colors)
    gone = [g for (form, text), g in found.items() if form == "gone_from"]
    # the suitcase was not removed, it is still in the kitchen
    assert gone and all(g.words == {"trash can"} for g in gone)
    moved = [g for (form, _), g in found.items() if form == "when_moved"]
    assert moved and all(g.times[0][0] < MOVED < g.times[0][1] for g in moved)
    before = [g for (form, _), g in found.items() if form == "was_before"]
    assert before and all(g.places[0][:2] == pytest.approx((5.0, 3.5), abs=0.1) for g in before)


def test_a_room_with_the_name_of_its_building_is_not_asked_for(truth):
    """ "In the warehouse" may mean the building; a small office in an office building is a room."""
    maker = Maker(truth, np.random.default_rng(0))
    assert maker.descriptions.unique_room("office")
    large = replace(
        truth.world, rooms=tuple(replace(r, polygon=_outline(truth.world)) for r in truth.world.rooms)
    )
    whole = Maker(TourTruth(large, truth.glances), np.random.default_rng(0))
    assert not whole.descriptions.unique_room("office") and whole.descriptions.unique_room("kitchen")


def _outline(world):
    x0, y0, x1, y1 = world.bounds
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def test_a_look_of_one_image_is_none_that_the_robot_must_have_noticed(truth):
    thing = next(i for i in truth.stays if truth.looks(i))
    assert truth.noticed(thing) == [(a, b) for a, b in truth.looks(thing) if b > a]
    once = TourTruth(truth.world, [*[g for g in truth.glances if thing in g.things][:1], *truth.glances[-1:]])
    assert once.looks(thing) and not once.noticed(thing)


def test_look_alikes_are_never_asked_for_without_a_relation():
    for seed in range(4):
        for q in asked(seed=seed):
            if q.form in ("where_now", "where_last", "take_me") and "chair" in q.asked.text:
                assert re.search("closest to|next to|in the|on the|wooden|folding", q.asked.text), (
                    q.asked.text
                )


def test_questions_keep_their_gold_under_other_wordings():
    ours, reserved, both = asked(DEVELOPMENT), asked(RESERVED), asked(BOTH)
    assert [q.form for q in ours] == [q.form for q in reserved] == [q.form for q in both]
    for a, b in zip(ours, reserved):
        assert (
            a.asked.text != b.asked.text and a.gold.number == b.gold.number and a.gold.times == b.gold.times
        )
    assert {q.wording for q in both} == {DEVELOPMENT, RESERVED}
    assert asked(DEVELOPMENT)[0].asked.text == ours[0].asked.text  # the same seed gives the same questions


def test_too_short_a_tour_says_so():
    with pytest.raises(TooFewQuestions, match="spatial questions instead of 400"):
        asked(counts={**COUNTS, "spatial": 400})
    some = questions_of(
        changing_world(), glances(), 0, DEVELOPMENT, {**COUNTS, "spatial": 400}, blank, short=True
    )
    assert 0 < sum(question.kind == "spatial" for question in some) < 400


def test_the_oracle_is_always_right_and_the_guesser_rarely():
    right = {"oracle": [], "chance": []}
    stream = _empty_stream()
    for seed in range(3):
        questions = asked(seed=seed)
        for name, answerer in (("oracle", Oracle(questions)), ("chance", Guesser(questions, seed))):
            answers = answerer.answer_all(answerer.remember(stream), [q.asked for q in questions], name)
            right[name] += [judge(q, a) for q, a in zip(questions, answers)]
    assert all(s.right and s.recalled in (True, None) for s in right["oracle"])
    yes_no = [s.right for s in right["chance"] if np.isnan(s.error)]
    assert 0.15 < np.mean(yes_no) < 0.65
    assert np.mean([s.right for s in right["chance"]]) < 0.7


def _empty_stream():
    """Return a tour on which nothing was seen."""
    step = SimpleNamespace(stamp=90.0, sightings=(), map_from_base=np.eye(4))
    return SimpleNamespace(steps=(step,), end=150.0, scene=SimpleNamespace(entities={}))


def test_every_form_has_wordings_of_both_lists_and_none_is_shared():
    ours, reserved = wordings(DEVELOPMENT), wordings(RESERVED)
    assert set(ours) == set(reserved)
    for form in ours:
        assert not set(ours[form]) & set(reserved[form])
        slots = {frozenset(re.findall(r"{(\w+)}", line)) for line in (*ours[form], *reserved[form])}
        assert len(slots) == 1, form
    many = sum(len(lines) for lines in ours.values())
    few = sum(len(lines) for lines in reserved.values())
    assert 0.30 <= few / (many + few) <= 0.36


def test_a_third_of_the_wordings_is_reserved_where_both_are_used():
    rng = np.random.default_rng(0)
    used = [worded("saw", {"a_thing": "a mug"}, BOTH, rng)[1] for _ in range(3000)]
    assert used.count(RESERVED) / 3000 == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize(
    ("noun", "many"), [("box", "boxes"), ("bookshelf", "bookshelves"), ("mug", "mugs"), ("bench", "benches")]
)
def test_plurals(noun, many):
    assert plural(noun) == many and with_article(noun) == f"a {noun}"


def test_an_unseen_thing_is_not_asked_for():
    """The mug on the desk was never in view."""
    for seed in range(4):
        for q in asked(seed=seed):
            assert "red mug" not in q.asked.text or not q.gold.yes or q.kind != "yes_no"
            if q.kind == "spatial":
                assert "mug" not in q.asked.text.split(" closest")[0]


def test_chairs_by_their_ids(truth):
    alike = {truth.stays[i][0].thing.category for i in (CHAIR_A, CHAIR_B)}
    assert alike == {"chair"} and truth.count_look_alikes()[1] == 11
    twins = replace(changing_world(), events=())
    assert TourTruth(twins, glances()).epochs == [(0.0, truth.end)]
