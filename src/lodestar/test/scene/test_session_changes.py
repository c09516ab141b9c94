"""Tests of changes of objects between two sessions: stayed, moved, came, went, or unknown."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.models.category_priors import CategoryPriors
from lodestar.scene.change_pairs import Sight
from lodestar.scene.change_report import report_json, report_lines, sentence_of
from lodestar.scene.records import Embedding
from lodestar.scene.session_changes import ChangeKind, compare_sessions, watchings_of

HOURS = 3600.0
PRIORS = CategoryPriors()


def sight(identity, label, *place, watched=1.0, **more):
    place = np.array(place if len(place) == 3 else (*place, 0.8), float)
    return Sight(identity, label, place, 0.05**2 * np.eye(3), watched=watched, **more)


ROOM = (
    sight(1, "mug", 1.0, 1.0), sight(2, "laptop", 2.0, 1.0), sight(3, "sofa", 4.0, 4.0),
    sight(4, "book", 3.0, 1.0), sight(5, "plant", 0.5, 4.0),
)  # fmt: skip


def compare(before, after, hours=4.0, priors=PRIORS):
    return compare_sessions(before, after, hours * HOURS, priors)


def kinds(changes):
    return {(c.before or c.after).id: c.kind for c in changes}


def without(*ids, room=ROOM):
    return [s for s in room if s.id not in ids]


def test_what_is_seen_again_in_its_place_is_the_same():
    again = [replace(s, mean=s.mean + 0.04, id=s.id + 10) for s in ROOM]
    changes = compare(ROOM, again)
    assert [c.kind for c in changes] == [ChangeKind.SAME] * 5
    assert [c.after.id for c in changes] == [11, 12, 13, 14, 15] and min(c.probability for c in changes) > 0.9


def test_a_mug_on_another_table_has_moved_and_keeps_its_identity():
    changes = compare(ROOM, [*without(1), sight(21, "mug", 4.0, 1.0)])
    moved = changes[0]
    assert moved.kind is ChangeKind.MOVED and moved.after.id == 21
    assert moved.distance == pytest.approx(3.0) and moved.probability > 0.5
    assert len(changes) == 5  # the moved object is not reported as new too


def test_what_is_not_found_in_view_is_gone_and_what_nobody_looked_at_is_unknown():
    gone = compare(ROOM, without(1))[0]
    hidden = compare([replace(ROOM[0], watched=0.0), *without(1)], without(1))[0]
    assert gone.kind is ChangeKind.VANISHED and gone.probability > 0.5
    assert hidden.kind is ChangeKind.UNKNOWN
    assert hidden.probabilities[ChangeKind.VANISHED] < 0.5 * gone.probabilities[ChangeKind.VANISHED]


def test_what_is_new_where_the_room_was_known_appeared_and_elsewhere_nobody_knows():
    new, unseen = sight(30, "bicycle", 3.0, 3.0), sight(31, "bicycle", 3.0, 3.0, watched=0.0)
    assert kinds(compare(ROOM, [*ROOM, new]))[30] is ChangeKind.APPEARED
    assert kinds(compare(ROOM, [*ROOM, unseen]))[31] is ChangeKind.UNKNOWN


def test_another_label_in_the_same_place_is_a_new_label_not_two_changes():
    changes = compare(ROOM, [*without(5), sight(40, "lamp", 0.52, 4.0)])
    assert [c.kind for c in changes] == [*[ChangeKind.SAME] * 4, ChangeKind.RELABELLED]


def test_another_word_for_the_same_kind_is_no_change():
    assert kinds(compare(ROOM, [*without(3), sight(40, "couch", 4.0, 4.0)]))[3] is ChangeKind.SAME


def test_two_look_alikes_keep_their_identities_where_one_moves():
    before = [sight(1, "chair", 0.0, 0.0), sight(2, "chair", 1.0, 0.0), sight(3, "table", 0.5, 1.0)]
    after = [sight(11, "chair", 3.0, 0.0), sight(12, "chair", 1.02, 0.0), sight(13, "table", 0.5, 1.0)]
    found = {c.before.id: c.after.id for c in compare(before, after, hours=48.0)}
    assert found == {1: 11, 2: 12, 3: 13}


def test_captions_tell_look_alikes_that_were_exchanged_apart():
    before = [sight(1, "mug", 0.0, 0.0, caption="red mug"), sight(2, "mug", 3.0, 0.0, caption="blue mug")]
    after = [sight(11, "mug", 1.5, 2.0, caption="blue mug"), sight(12, "mug", 1.6, 2.9, caption="red mug")]
    found = {c.before.id: c.after and c.after.id for c in compare(before, after, hours=12.0)}
    assert found == {1: 12, 2: 11}


def test_an_appearance_vector_tells_look_alikes_apart():
    red, blue = (Embedding("m", row) for row in np.eye(8)[:2])
    before = [sight(1, "mug", 0.0, 0.0, appearance=red), sight(2, "mug", 3.0, 0.0, appearance=blue)]
    after = [sight(11, "mug", 1.5, 2.0, appearance=blue), sight(12, "mug", 1.6, 2.9, appearance=red)]
    found = {c.before.id: c.after and c.after.id for c in compare(before, after, hours=12.0)}
    assert found == {1: 12, 2: 11}
    foreign = [replace(s, appearance=Embedding("other", s.appearance.vector)) for s in after]
    plain = [replace(s, appearance=None) for s in after]
    told = [[c.probabilities for c in compare(before, one, hours=12.0)] for one in (foreign, plain)]
    assert told[0] == told[1], "vectors of two models are not comparable"


def test_a_table_of_another_size_is_another_table():
    before = [sight(1, "table", 0.0, 0.0, extent=1.8), sight(2, "lamp", 5.0, 5.0)]
    after = [sight(11, "table", 4.0, 0.0, extent=0.4), sight(12, "lamp", 5.0, 5.0)]
    big = [replace(after[0], extent=1.7), after[1]]
    chance = [compare(before, one, 24.0 * 200)[0].probabilities[ChangeKind.MOVED] for one in (after, big)]
    assert chance[0] < 0.5 * chance[1]


def test_what_moves_often_is_sooner_believed_to_have_moved():
    """Equal observations of a book and a wardrobe: a similar one is elsewhere, the old place is out of view."""
    chances = []
    for label in ("wardrobe", "book"):
        before = [sight(1, label, 0.0, 0.0, watched=0.0), sight(2, "sofa", 4.0, 4.0)]
        after = [sight(11, label, 3.0, 0.0), sight(12, "sofa", 4.0, 4.0)]
        chances.append(compare(before, after)[0].probabilities[ChangeKind.MOVED])
    assert chances[0] < chances[1]


def test_more_time_makes_a_change_likelier():
    soon, late = (
        compare(ROOM, without(1), hours)[0].probabilities[ChangeKind.VANISHED] for hours in (0.1, 24.0)
    )
    assert soon < late


@pytest.mark.parametrize(("before", "after"), [((), ()), (ROOM, ()), ((), ROOM)])
def test_an_empty_session_is_compared_too(before, after):
    changes = compare(list(before), list(after))
    assert len(changes) == len(before) + len(after)


def test_probabilities_of_a_thing_add_up_to_one():
    rng = np.random.default_rng(5)
    labels = ("mug", "cup", "book", "chair", "sofa")
    rooms = [
        [
            sight(i, str(rng.choice(labels)), *rng.uniform(0, 4, 2), watched=float(rng.random()))
            for i in range(30)
        ]
        for _ in range(2)
    ]
    for change in compare(*rooms):
        assert sum(change.probabilities.values()) == pytest.approx(1.0, abs=1e-6)
        assert min(change.probabilities.values()) >= -1e-9
        assert change.probability == change.probabilities[change.kind]


def test_the_order_of_the_sights_does_not_matter():
    after = [*without(1, 4), sight(21, "mug", 4.0, 1.0)]
    one, other = compare(ROOM, after), compare(ROOM[::-1], after[::-1])
    assert kinds(one) == kinds(other)


def test_things_by_the_thousand_take_no_square_of_them():
    rng = np.random.default_rng(1)
    many = [sight(i, f"thing{i % 50}", *rng.uniform(0, 100, 2)) for i in range(1500)]
    moved = [replace(s, mean=s.mean + rng.normal(0, 0.03, 3)) for s in many]
    from lodestar.scene.change_pairs import weigh

    pairs = weigh(many, moved, HOURS, PRIORS).pairs
    assert len(pairs.rows) < 40 * len(many)


def test_what_is_known_teaches_how_often_a_kind_moves_and_what_is_not_known_nothing():
    changes = compare(
        [*ROOM, sight(6, "fork", 2.0, 2.0, watched=0.0)], [*without(1), sight(21, "mug", 4.0, 1.0)]
    )
    taught = {w.label: w.moved for w in watchings_of(changes, 4 * HOURS)}
    assert taught["mug"] > 0.9 and taught["sofa"] < 0.1 and "fork" not in taught


# --- words -------------------------------------------------------------------------------------------------


def test_the_report_says_what_changed_in_plain_sentences():
    room = lambda place: "kitchen" if place[0] < 3.5 else "hall"  # noqa: E731
    changes = compare(ROOM, [*without(1, 2), sight(21, "mug", 4.0, 1.0), sight(22, "bicycle", 3.0, 3.0)])
    lines = report_lines(changes, 4 * HOURS, room)
    assert lines[0] == "3 changes in 4 hours:"
    assert lines[1].startswith("The mug (1) moved 3.0 m from the kitchen to the hall (")
    assert lines[2].startswith("The laptop (2) is gone; it was in the kitchen (")
    assert lines[3].startswith("The bicycle (22) is new in the kitchen (")
    assert lines[4] == "3 things in place."


def test_a_report_without_changes_says_so():
    assert report_lines(compare(ROOM, ROOM), math.nan)[0] == "Nothing has changed, as far as was seen."


def test_the_json_holds_every_thing_and_only_finite_numbers():
    changes = compare(ROOM, without(1))
    text = json.dumps(report_json(changes, math.nan), allow_nan=False)
    read = json.loads(text)
    assert read["elapsed"] is None and len(read["changes"]) == len(changes)
    assert read["changes"][0]["kind"] == "vanished" and read["changes"][0]["after"] is None


def test_a_caption_with_control_characters_stays_on_one_line():
    bad = sight(1, "mug", 1.0, 1.0, caption="red\n\x1b[31mmug")
    assert "\n" not in sentence_of(compare([bad], [])[0])
