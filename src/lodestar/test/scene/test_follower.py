"""Tests of the scene's follower under reordering, loss, duplicates, restarts, and changes during paging."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from scene_builders import Feed, archive, instance, sighting

from lodestar.mapping.follower import ALL, Cursor, Follower, Part
from lodestar.mapping.instances.records import Absence, Merge
from lodestar.scene import journal
from lodestar.scene.dictionary import SceneConfig, SceneDictionary
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, SceneDelta

SCHEDULES = 400  # number of random schedules; 20,000 were run once
CONFIG = SceneConfig(max_delta=3, max_archived=4)


class Owner:
    """Scene dictionary in its process: changes at random, and may restart empty or from a load."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.start = chance, 0
        self.history: dict[tuple[str, int], dict[int, Entity]] = {}
        self.begin()

    def begin(self) -> None:
        self.start += 1
        self.scene, self.feed = SceneDictionary(CONFIG), Feed()
        self.losers: set[int] = set()
        self.named(self.scene.flush())

    def change(self) -> SceneDelta:
        a, b = self.chance.randint(1, 9), self.chance.randint(1, 9)
        stamp = float(self.feed.revision)
        kind = self.chance.choice(
            ("see", "see", "see", "absent", "absent", "merge", "remove", "flush", "flush")
        )
        if kind == "see":
            news = {"updated": tuple(instance(i, (i, 0, 0), stamp=stamp) for i in range(a, a + 1 + b // 3))}
        elif kind == "absent":
            news = {"absences": tuple(Absence(a, stamp, 0.9) for _ in range(3))}
        elif kind == "merge" and a in self.scene.state.records and self.scene.resolve(b) != a:
            news = {"merges": (Merge(a, b),)}
        elif kind == "remove":
            news = {"removed": (a,)}
        elif kind == "flush":
            return self.named(self.scene.flush())
        else:
            news = {"observations": (sighting(a, stamp),)}
        return self.named(self.scene.update(self.feed(**news)))

    def page(self, since: Cursor, size: int, archived: bool) -> tuple[SceneDelta, int]:
        page, until = self.scene.delta_since(*since, size, include_archived=archived)
        return self.named(page), until.id

    def named(self, delta: SceneDelta) -> SceneDelta:
        self.losers.update(merge.loser for merge in delta.merges)
        session = f"abc.{self.start}"
        self.history[session, self.scene.revision] = self.scene.entities()
        return replace(delta, session_id=session)


class Copy:
    """Follower with its mirror; checks after each step that the mirror equals one revision and never goes back."""

    def __init__(self, archived: bool, owner: Owner | None = None) -> None:
        self.follower: Follower[SceneDelta] = Follower()
        self.mirror = SceneMirror(archived)
        self._archived, self._owner = archived, owner
        self._revisions: dict[str, int] = {}

    def apply(self, parts: list[tuple[Part, SceneDelta]]) -> None:
        for part, delta in parts:
            if part is not Part.OVERTAKEN:
                self.mirror.take(delta, first=part is Part.FIRST)
        session, revision = self.mirror.session_id, self.mirror.revision
        assert revision >= self._revisions.get(session, 0), "it went back"
        self._revisions[session] = revision
        if session and self._owner is not None:
            assert same(self.mirror.entities, self.shown(self._owner.history[session, revision])), (
                "of two revisions"
            )

    def shown(self, entities: dict[int, Entity]) -> dict[int, Entity]:
        return {i: e for i, e in entities.items() if self._archived or e.state is not EntityState.ARCHIVED}


def run(seed: int, sizes: tuple[int, ...]) -> None:
    """Run one random schedule; after the network has settled, the mirror must equal the scene."""
    chance = random.Random(seed)
    archived, size = chance.random() < 0.5, chance.choice(sizes)
    owner = Owner(chance)
    copy = Copy(archived, owner)
    loss, double, swap = (chance.choice((0.0, 0.1, 0.5)) for _ in range(3))
    stream: list[SceneDelta] = []
    answers: list[tuple] = []
    for _ in range(chance.randint(5, 120)):
        deed = chance.choice(("change", "change", "hear", "hear", "hear", "ask", "serve", "serve", "late"))
        if deed == "change":
            if chance.random() < 0.05:
                owner.begin()
            delta = owner.change()
            copies = 0 if chance.random() < loss else 2 if chance.random() < double else 1
            stream += [delta] * copies
        elif deed == "hear" and stream:
            copy.apply(
                copy.follower.hear(stream.pop(chance.randrange(len(stream)) if chance.random() < swap else 0))
            )
        elif deed == "ask" and (request := copy.follower.request()) is not None:
            answers.append((request, None))
        elif deed == "serve" and answers:
            at = chance.randrange(len(answers))
            request, answer = answers.pop(at)
            if answer is None:
                answer = owner.page(request.since, size, archived)
                if chance.random() < 0.7:
                    answers.append((request, answer))  # answers that are not delivered yet
                    continue
            if chance.random() < loss:
                copy.follower.give_up(request)
                continue
            if chance.random() < double:
                answers.append((request, answer))
            copy.apply(copy.follower.answer(request, *answer))
        elif deed == "late" and answers and chance.random() < 0.2:
            copy.follower.give_up(answers[-1][0])
            if chance.random() < 0.3:
                copy.follower.restart()
    calm(owner, copy, stream, answers, size, archived)


def calm(owner, copy, stream, answers, size, archived) -> None:
    for delta in stream:
        copy.apply(copy.follower.hear(delta))
    for request, answer in answers:
        copy.apply(copy.follower.answer(request, *(answer or owner.page(request.since, size, archived))))
    copy.follower.doubt()  # as after a timeout
    for _ in range(200):
        request = copy.follower.request()
        if request is None:
            break
        copy.apply(copy.follower.answer(request, *owner.page(request.since, size, archived)))
    assert same(copy.mirror.entities, copy.shown(owner.scene.entities()))
    assert (copy.mirror.session_id, copy.mirror.revision) == (f"abc.{owner.start}", owner.scene.revision)
    assert all(copy.mirror.resolve(loser) == owner.scene.resolve(loser) for loser in owner.losers)


def same(one: dict[int, Entity], other: dict[int, Entity]) -> bool:
    """Return whether both hold identical objects; a record in one state is published only once."""
    return one.keys() == other.keys() and all(one[i] is other[i] for i in one)


@pytest.mark.parametrize(
    ("removals", "sizes"),
    [(1, (100,)), (journal.MOST_REMOVED, (1, 2, 5, 100))],
    ids=["forgetful", "as it is"],
)
def test_the_mirror_equals_the_scene_at_the_end_of_every_schedule(removals, sizes, monkeypatch):
    monkeypatch.setattr(journal, "MOST_REMOVED", removals)
    for seed in range(SCHEDULES):
        try:
            run(seed, sizes)
        except AssertionError as error:
            raise AssertionError(f"schedule {seed}: {error}") from error


def delta(revision: int, previous: int, *ids: int, session: str = "a") -> SceneDelta:
    things = tuple(Entity(i, "mug", "mug", *THING) for i in ids)
    return SceneDelta(1.0, revision, previous, things, map_id=1, session_id=session)


THING = (np.zeros(3), np.eye(3), np.zeros(3), np.ones(3))


@pytest.fixture
def copy() -> Copy:
    """Return a follower that knows 500 entities at revision 100."""
    copy = Copy(archived=True)
    copy.apply(copy.follower.answer(copy.follower.request(), delta(100, 0, *range(1, 501)), ALL))
    assert copy.follower.request() is None
    return copy


def test_a_late_gap_fill_empties_nothing(copy):
    copy.apply(copy.follower.hear(delta(102, 101, 102)))
    late = copy.follower.request()
    for revision in range(101, 108):
        copy.apply(copy.follower.hear(delta(revision, revision - 1, revision)))
    copy.apply(copy.follower.answer(late, delta(106, 100, *range(101, 107)), ALL))
    assert len(copy.mirror.entities) == 500 and copy.mirror.revision == 107
    copy.apply(copy.follower.hear(delta(108, 107, 108)))
    assert copy.mirror.revision == 108 and copy.follower.request() is None


def test_a_scene_that_changes_while_it_is_paged_is_paged_once(scene, feed):
    """Ten changes occur between any two pages, so paging that restarts per revision would never end."""
    scene.update(feed(updated=tuple(instance(i, (i, 0, 0)) for i in range(1, 41))))
    while scene.flush().updated:
        pass
    copy, asked = Copy(archived=True), 0
    while (request := copy.follower.request()) is not None:
        page, until = scene.delta_since(*request.since, 10)
        for k in range(10):
            scene.update(feed(updated=(instance(1 + (asked + k) % 5, stamp=float(feed.revision)),)))
        copy.apply(copy.follower.answer(request, page, until.id))
        asked += 1
        assert asked < 10
    assert set(copy.mirror.entities) == set(scene.entities())


def test_an_archived_entity_that_nobody_asked_for_is_neither_paged_nor_kept(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0)))))
    mirror, since = SceneMirror(archived=False), scene.revision
    mirror.take(scene.delta_since(0, include_archived=False)[0])
    archive(scene, feed, 1)
    page = scene.delta_since(since, include_archived=False)[0]
    assert [e.id for e in page.updated] == [] and page.removed == (1,)
    mirror.take(page)
    assert set(mirror.entities) == {2}


def test_a_delta_of_an_old_session_that_comes_late_changes_nothing(copy):
    copy.apply(copy.follower.hear(delta(1, 0, 7, session="old")))
    request = copy.follower.request()
    assert request.since == Cursor(100), "one small page tells whose session it is"
    copy.apply(copy.follower.answer(request, delta(100, 100), ALL))
    assert len(copy.mirror.entities) == 500 and copy.follower.request() is None


def test_the_last_delta_that_was_lost_is_found_after_a_silence(copy):
    copy.follower.doubt()
    copy.apply(copy.follower.answer(copy.follower.request(), delta(101, 100, 777), ALL))
    assert 777 in copy.mirror.entities


def come_and_gone(scene: SceneDictionary, feed: Feed, ids) -> None:
    for i in ids:
        scene.update(feed(updated=(instance(i, (1, 0, 0)),)))
        scene.update(feed(removed=(i,)))


def test_however_many_have_gone_a_bounded_number_is_kept_and_a_newcomer_hears_of_none():
    scene, feed = SceneDictionary(SceneConfig()), Feed()
    scene.update(feed(updated=(instance(1, (0, 0, 0)),)))
    scene.flush()
    before = scene.revision
    come_and_gone(scene, feed, range(2, 302))
    late = scene.revision
    come_and_gone(scene, feed, range(302, 302 + journal.MOST_REMOVED))
    assert len(scene.state.journal._removed) == journal.MOST_REMOVED
    assert scene.delta_since(0)[0].removed == ()
    page, until = scene.delta_since(late)
    assert page.previous_revision == late and len(page.removed) == journal.MOST_REMOVED and until.is_whole
    anew, until = scene.delta_since(before)
    assert anew.previous_revision == 0 and anew.removed == () and until == Cursor(scene.revision)
    assert [entity.id for entity in anew.updated] == [1]


def test_a_newcomer_gets_through_its_pages_however_many_have_gone():
    scene, feed = SceneDictionary(SceneConfig()), Feed()
    scene.update(feed(updated=tuple(instance(i, (i, 0, 0)) for i in range(1, 8))))
    while scene.flush().updated:
        pass
    come_and_gone(scene, feed, range(10, 20 + journal.MOST_REMOVED))
    since, seen = Cursor(), []
    for _ in range(7):
        page, since = scene.delta_since(*since, 1)
        seen += [entity.id for entity in page.updated]
    assert sorted(seen) == list(range(1, 8)) and since == Cursor(scene.revision)
