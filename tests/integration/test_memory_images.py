"""Tests of the memory's images: kept while in use, erased with forgotten memories, and available after a restart."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from visualization_msgs.msg import Marker, MarkerArray

from integration.street import Manage, Street, thing
from lodestar.mapping.instances.records import Merge
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import View
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_to_msg
from lodestar_ros.conversions_scene import snapshots_from_msg

pytestmark = pytest.mark.slow

SNAPSHOTS, KEYFRAMES = "memory/snapshots", "keyframes/keyframes"
MUG, TABLE, LAMP = 1, 2, 3


@pytest.fixture(scope="module")
def street(bed, processes, tmp_path_factory):
    street = Street(bed, processes, tmp_path_factory.mktemp("home") / "memory")
    street.known = (
        thing(MUG, "mug", "red mug", (2.0, 0.3, 0.5)),
        thing(TABLE, "table", "brown table", (2.2, -0.4, 0.4), 0.5),
    )
    street.robot.pose = (-2.0, 0.0, 0.0)
    make = bed.node.create_publisher
    street.frontiers = bed.on_executor(
        lambda: make(msg.FrontierArray, "frontier_expert/frontiers", qos.LATCHED)
    )
    for kind, topic in ((msg.SnapshotArray, SNAPSHOTS), (msg.Keyframe, KEYFRAMES)):
        bed.hear(kind, topic, qos.EVENT)
    bed.hear(msg.WantedKeyframes, "memory/wanted_keyframes", qos.LATCHED)
    bed.hear(msg.StoredKeyframes, "keyframes/stored", qos.LATCHED)
    street.start("keyframes")
    bed.until(lambda: bed.diagnosis("keyframes"), "the keyframes' diagnostics")
    street.look_until(lambda: street.count("store.records") > 0, "memories", image=True)
    street.walk(0.0)
    street.look_until(lambda: len(told(bed)) > 0, "a snapshot", image=True)
    return street


def told(bed):
    """Return the snapshots by id, from the deltas on ``~/snapshots``."""
    known = {}
    for _, message in bed.heard[SNAPSHOTS]:
        delta = snapshots_from_msg(message)
        if delta.previous_revision == 0:
            known = {}
        for identity in delta.removed:
            known.pop(identity, None)
        known |= {one.id: one for one in delta.updated}
    return known


def paged(bed):
    """Return the snapshots by id, from the paged service."""
    found, page, pages = {}, 0, 1
    while page < pages:
        request = srv.GetSnapshots.Request(page=page, page_size=1)
        response = bed.call(srv.GetSnapshots, "memory/get_snapshots", request)
        assert response.error_code == 0
        found |= {one.id: one for one in snapshots_from_msg(response.snapshots).updated}
        page, pages = page + 1, response.page_count
    return found


def settled(bed):
    """Wait until a follower knows the snapshots that the service tells; return them."""
    return bed.until(lambda: (known := paged(bed)) and known == told(bed) and known, "the same snapshots")


def stored(bed):
    return set(bed.last("keyframes/stored").ids)


def images_folder(processes):
    """Return the folder of the run's images."""
    line = Path(f"/proc/{processes.starter.pid('memory')}/cmdline").read_text().split("\0")
    folder = next(word.split(":=", 1)[1] for word in line if word.startswith("checkpoint.folder:="))
    return Path(json.loads(folder)) / "images"


def images(processes):
    """Return the ids of the image files in the folder of the run."""
    return {int(path.stem) for path in images_folder(processes).glob("*.jpg")}


def dies_and_comes_back(street, name):
    street.processes.kill(name)
    street.bed.forget("/diagnostics")
    street.processes.starter.start_one(name)
    street.bed.until(lambda: street.bed.diagnosis(name), f"{name} again")


def test_followers_and_late_comers_know_the_same_snapshots(street):
    bed = street.bed
    settled(bed)
    entities = lambda: {identity for one in told(bed).values() for identity in one.entity_ids}  # noqa: E731
    bed.until(lambda: entities() == {MUG, TABLE}, "snapshots of both")
    bed.until(
        lambda: {one.keyframe_id for one in told(bed).values()} <= stored(bed), "their images are stored"
    )


def test_whoever_opens_rviz_late_sees_the_snapshots(street):
    street.bed.hear(MarkerArray, "memory/markers", qos.LATCHED)
    shown = street.bed.until(lambda: street.bed.last("memory/markers"), "markers, though nothing has changed")
    assert shown.markers[0].action == Marker.DELETEALL
    arrows = {marker.id for marker in shown.markers if marker.ns == "snapshots"}
    assert arrows

    def shown_are_told():
        markers = street.bed.last("memory/markers").markers
        return {marker.id for marker in markers if marker.ns == "snapshots"} == set(told(street.bed))

    street.bed.until(shown_are_told, "an arrow for each snapshot")


def test_images_of_snapshots_memories_and_frontiers_are_wanted(street):
    bed = street.bed
    images = {one.keyframe_id for one in told(bed).values()}
    bed.until(lambda: images <= set(getattr(bed.last("memory/wanted_keyframes"), "ids", ())), "wishes")
    before = bed.count("keyframes", "wanted")
    first = min(stored(bed))
    frontier = msg.Frontier(id=1, keyframe_id=first)
    street.frontiers.publish(msg.FrontierArray(header=header(time.time(), "map"), frontiers=[frontier]))
    bed.until(lambda: bed.count("keyframes", "wanted") > before, "the frontier's image is wanted too")


def test_pictures_of_the_proof_are_saved(street, ask, tmp_path):
    street.look_until(lambda: not street.count("store.unembedded"), "every memory has its vector")

    def pictures():  # a memory may be published before its image
        result = street.ask("where is the red mug?")
        return [one for one in result.evidence if one.kind == one.KIND_KEYFRAME]

    street.look_until(pictures, "a picture in the proof")
    shown = pictures()
    assert shown and all(one.session_id for one in shown)
    # the picture of a frontier is an ordinary keyframe
    frontier = msg.Frontier(id=1, keyframe_id=int(shown[0].id))
    street.frontiers.publish(msg.FrontierArray(header=header(time.time(), "map"), frontiers=[frontier]))
    code, text = ask("where is the red mug?", "--save-pictures", str(tmp_path / "proof"))
    assert code == 0 and "picture: " in text, text
    saved = list((tmp_path / "proof").iterdir())
    assert saved and all(path.read_bytes().startswith(b"\xff\xd8") for path in saved)


def test_a_picture_of_an_earlier_run_is_not_taken_for_one_of_this(street):
    request = srv.GetKeyframe.Request(id=min(stored(street.bed)), session_id="another run")
    response = street.bed.call(srv.GetKeyframe, "keyframes/get", request)
    assert response.error_code == srv.GetKeyframe.Response.IMAGE_GONE
    assert "of session another run is not stored any more" in response.error_msg


def test_a_killed_memory_has_the_snapshots_that_it_had(street):
    bed = street.bed
    before, revision = settled(bed), bed.last(SNAPSHOTS).revision
    dies_and_comes_back(street, "memory")
    assert paged(bed) == before, "at once, before it has heard of anything"
    street.look_until(lambda: street.count("images.known") >= len(stored(bed)), "it knows the images again")
    street.look_until(lambda: street.count("scene.revision") > 0, "it knows the scene again")
    assert settled(bed) == before
    street.known = (*street.known, thing(LAMP, "lamp", "white lamp", (2.4, 0.0, 0.9)))
    street.walk(0.7)  # to a place without stored images
    street.look_until(
        lambda: any(LAMP in one.entity_ids for one in told(bed).values()), "changes go on", image=True
    )
    assert bed.last(SNAPSHOTS).revision > revision
    settled(bed)


def test_merged_moved_and_archived_things_are_told(street):
    bed = street.bed
    street.known = street.known[:2]
    street.see(merges=(Merge(LAMP, MUG),))
    bed.until(lambda: not any(LAMP in one.entity_ids for one in told(bed).values()), "the lamp was the mug")
    table = street.known[1]
    away = thing(TABLE, "table", "brown table", (-6.0, 3.0, 0.4), 0.5)
    street.known = (street.known[0], away)
    street.look_until(
        lambda: not any(TABLE in one.entity_ids for one in told(bed).values()),
        "no image shows the table there",
    )
    street.known = (street.known[0], table)
    street.look_until(lambda: any(TABLE in one.entity_ids for one in told(bed).values()), "it is back")
    settled(bed)


def pictures_of(result):
    """Return the ids of the keyframes in an answer's evidence."""
    return {one.id for one in result.evidence if one.kind == one.KIND_KEYFRAME}


def repeated(publish, every=3.0):
    """Return a function that publishes at most this often: a message to a memory that was paused may be lost."""
    due = 0.0

    def tell():
        nonlocal due
        if time.monotonic() >= due:
            publish()
            due = time.monotonic() + every

    return tell


def images_of_memories(street, words):
    """Return the image names, from an export, of memories that contain these words."""
    path = street.folder.parent / "exports" / "images.jsonl"
    assert street.manage(Manage.Request.EXPORT, path=str(path)).error_code == 0
    memories = [json.loads(line)["memory"] for line in path.read_text().splitlines()[1:]]
    return {image for memory in memories if words in memory["text"] for image in memory["keyframes"]}


def test_images_of_forgotten_memories_are_erased_also_where_the_keyframes_node_is_away(street, ask):
    bed, processes = street.bed, street.processes
    kept = max(stored(bed))
    decision = bed.on_executor(
        lambda: bed.node.create_publisher(msg.Decision, "goal_selector/decision", qos.EVENT)
    )
    bed.until_heard(decision)
    epochs = itertools.count(1)
    decide = repeated(lambda: decision.publish(
        msg.Decision(
            header=header(time.time(), "map"), epoch=next(epochs), map_id=1, directive="find the mug", chosen="",
            evidence_keyframes=[kept], explanation="the unicorn hall is near",
        )
    ))  # fmt: skip

    def is_kept():
        decide()
        return street.manage(Manage.Request.FORGET, text="unicorn hall").count >= 1

    street.look_until(is_kept, "the decision is kept")
    processes.kill("keyframes")
    files = images(processes)
    doomed = set()

    def forgotten():  # a segment may be stored between the look and the word
        doomed.clear()
        doomed.update(images_of_memories(street, "red mug") - {kept})
        assert doomed and doomed <= files
        looked = street.manage(Manage.Request.FORGET, text="red mug")
        assert looked.count > 1
        done = street.manage(Manage.Request.FORGET, text="red mug", expected=looked.count)
        return done if done.error_code != Manage.Response.NOT_CONFIRMED else None

    done = bed.until(forgotten, "nothing comes between")
    assert done.error_code == Manage.Response.NOT_ERASED, "it is not told as done before it is"
    assert "forgotten, but not erased everywhere yet" in done.error_msg
    assert "keyframes node does not answer" in done.error_msg
    bed.until(lambda: street.count("store.unerased") > 0, "images wait to be erased")
    bed.until(lambda: "keyframes node does not answer" in bed.diagnosis("memory")["message"], "it says why")
    assert images(processes) == files
    pictures = lambda: {one.keyframe_id for one in told(bed).values()}  # noqa: E731
    bed.until(
        lambda: doomed.isdisjoint(pictures()), "the pictures of what was forgotten are snapshots no more"
    )
    dies_and_comes_back(street, "memory")  # pending erasures survive a restart
    bed.until(lambda: street.count("store.unerased") > 0, "still to be erased")
    processes.starter.start_one("keyframes")
    bed.until(
        lambda: street.count("store.records") > 0 and not street.count("store.unerased"), "all is erased"
    )
    left = images(processes)
    assert kept in left, "a decision that was not forgotten refers to it"
    assert doomed.isdisjoint(left)
    gone = bed.call(srv.GetKeyframe, "keyframes/get", srv.GetKeyframe.Request(id=min(doomed)))
    assert gone.error_code == srv.GetKeyframe.Response.IMAGE_GONE
    assert pictures() <= left


def test_a_picture_that_was_erased_is_told_by_the_command(street, ask, tmp_path):
    bed = street.bed
    missing = lambda: set(range(1, max(stored(bed), default=1))) - stored(bed)  # noqa: E731
    gone = min(bed.until(missing, "the erased images are told"))
    view = View(time.time(), np.eye(4), ImageBox(10, 10, 40, 40), gone, 1.0)
    street.known = (replace(street.known[0], views=(view,)),)
    street.look_until(lambda: street.count("scene.entities") >= 1, "the scene")
    street.look_until(
        lambda: gone in pictures_of(street.ask("where is the red mug?")), "it is named as proof"
    )
    code, text = ask("where is the red mug?", "--save-pictures", str(tmp_path / "proof"))
    assert code == 0 and f"picture {gone}: the image of keyframe {gone} is gone" in text, text
    street.processes.assert_alive(besides=("memory", "keyframes"))


def files_with(content, *folders):
    """Return the files below the folders with this content."""
    found = []
    for path in itertools.chain(*(folder.rglob("*") for folder in folders)):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # just removed, or a folder
            found += [path] if content in path.read_bytes() else []
    return found


def test_the_next_run_shows_the_image_of_a_memory_until_it_is_forgotten(street):
    bed, processes = street.bed, street.processes
    shown = max(stored(bed))
    session = next(message.session_id for _, message in reversed(bed.heard[KEYFRAMES]) if message.id == shown)
    request = srv.GetKeyframe.Request(id=shown, session_id=session)
    image = bytes(bed.call(srv.GetKeyframe, "keyframes/get", request).image.data)
    decision = bed.on_executor(
        lambda: bed.node.create_publisher(msg.Decision, "goal_selector/decision", qos.EVENT)
    )
    bed.until_heard(decision)
    epochs = itertools.count(1001)
    decide = repeated(lambda: decision.publish(
        msg.Decision(
            header=header(time.time(), "map"), epoch=next(epochs), map_id=1, directive="find the dragon",
            chosen="", evidence_keyframes=[shown], explanation="the dragon court is near",
        )
    ))  # fmt: skip
    kept = street.folder / "images"
    street.look_until(
        lambda: files_with(image, kept) or decide(), "the image is kept beyond the run", image=True
    )
    processes.stop()  # removes the run's folder
    ended = time.time()
    bed.forget("/diagnostics")
    street.start("keyframes")
    bed.until(lambda: bed.diagnosis("keyframes"), "the keyframes of the next run")
    street.look_until(lambda: street.count("store.records") > 0, "its memories", image=True)
    found = bed.call(srv.GetKeyframe, "keyframes/get", request)
    assert found.error_code == 0 and bytes(found.image.data) == image
    assert found.keyframe.session_id == session
    wish = {"to_stamp": stamp_to_msg(ended)}  # new memories keep arriving

    def forgotten():  # a segment of that time may be stored between the look and the word
        fitting = street.manage(Manage.Request.FORGET, **wish)
        assert fitting.count
        done = street.manage(Manage.Request.FORGET, **wish, expected=fitting.count)
        assert done.error_code in (0, Manage.Response.NOT_CONFIRMED), done.error_msg
        return done.error_code == 0

    bed.until(forgotten, "nothing comes between")
    run = images_folder(processes).parent
    assert not files_with(image, street.folder, run) and not files_with(b"dragon court", street.folder, run)
    assert (
        bed.call(srv.GetKeyframe, "keyframes/get", request).error_code == srv.GetKeyframe.Response.IMAGE_GONE
    )
