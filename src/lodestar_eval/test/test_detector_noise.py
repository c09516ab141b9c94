"""Tests of the fit of detector noise to generated sights, of sights of views, and of distinct targets."""

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.found_things import FoundThing
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame, Vocabulary
from lodestar.perception.measured_noise import MeasuredNoise, MissMemory
from lodestar_eval.__main__ import EXIT_USAGE, main
from lodestar_eval.benchmarks.detector_noise import _recall
from lodestar_eval.coco_labels import COCO_OF, coco_class
from lodestar_eval.detector_fit import DISTANCES, SIZES, fit, fit_evidence
from lodestar_eval.detector_sights import Sight, Sights, Stray, judged, recorded, rendered
from lodestar_eval.real_images.labels import LabelledRoom, LabelledThing
from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.catalogue import CATALOGUE


def noise(chance, lasting, shift):
    return MeasuredNoise(
        "made up", SIZES, DISTANCES, tuple((chance,) * len(DISTANCES) for _ in SIZES), lasting, 0.0, 0.0,
        (0.1,), (0.6,), 0.0, (10.0,), shift=shift,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chance", "lasting", "shift"), [(0.3, 0.2, 0.05), (0.6, 0.6, 0.1), (0.5, 0.0, 0.04)]
)
def test_the_fit_gives_back_the_numbers_that_made_the_sights(chance, lasting, shift):
    rng = np.random.default_rng(4)
    misses, things = MissMemory(noise(chance, lasting, shift), rng), []
    for number in range(60):
        misses.start()
        for thing in range(150):
            place, bearing = np.array([30.0 * thing, 0.0, 0.0]), 0.01 * number
            camera = place + 2.0 * np.array([np.cos(bearing), np.sin(bearing), 0.0])
            hit = misses.seen_as(0.2 * number, ("x", str(thing)), place, chance, camera) is not None
            view = (bearing, np.log(2.0))
            sight = Sight(str(thing), f"kind {thing % 5}", 100.0, 2.0, view=view)
            edges = (0.1, 0.1, 0.1, 0.1)
            things.append(
                Sight(**{**vars(sight), "score": 0.6, "found": sight.kind, "edges": edges}) if hit else sight
            )
    strays = Sights(10, (), tuple(Stray("bed", 50.0, number < 3, 0.2) for number in range(5)))
    record = fit(Sights(60, tuple(things), ()), strays, {"cup": "cup"}, "here").record
    found = MeasuredNoise.of(record)
    assert found.chance("nothing", 100.0, 2.0) == pytest.approx(chance, abs=0.08)
    assert found.lasting == pytest.approx(lasting, abs=0.15) and found.strays == 0.5
    assert found.shift == pytest.approx(shift, rel=0.5)
    assert np.exp(-0.2 / found.stray_shift) == pytest.approx(0.6, abs=0.02), "three of five stayed"
    assert set(found.edges) == {0.1} and set(found.scores) == {0.6} and found.wrong == 0.0


class _Everything:
    """Detector that finds all objects, by the boxes that it is given."""

    name = "fake"
    vocabulary = Vocabulary(("cup",))

    def __init__(self, *boxes):
        self.boxes = boxes

    def detect(self, stamp, rgb):
        found = tuple(
            Detection(n, label, label, 0.9, box, 100) for n, (label, box) in enumerate(self.boxes, 1)
        )
        return SegmentedFrame(stamp, np.zeros(rgb.shape[:2], np.uint16), found, "fake")


def cup_in_view():
    """Return a room of one cup, and a frame of it: pixels 60 to 90 by 40 to 60."""
    camera = PinholeCamera(160, 120, 100.0, 100.0, 79.5, 59.5)
    depth = np.full((120, 160), 3.0, np.float32)
    depth[40:60, 60:90] = 1.0
    frame = RgbdFrame(0.0, camera, depth, np.eye(4), rgb=np.zeros((120, 160, 3), np.uint8))
    cup = LabelledThing("cup", np.array([-0.3, -0.3, 0.9]), np.array([0.3, 0.3, 1.1]))
    return LabelledRoom("r", (cup,), (), np.eye(4)), frame


def test_evidence_is_fitted_to_the_chances_that_made_it():
    rng, told = np.random.default_rng(5), []
    for label, offset in (("cup", 2.0), ("chair", 0.0), ("bed", -1.0)):
        scores = rng.uniform(0.05, 0.9, 4000)
        odds = (scores / (1.0 - scores)) ** 2 * np.exp(offset)
        told += [
            (label, float(score), bool(true))
            for score, true in zip(scores, rng.random(4000) < odds / (1 + odds))
        ]
    evidence = fit_evidence(told, 0.5)
    for label, offset in (("cup", 2.0), ("chair", 0.0), ("bed", -1.0)):
        assert evidence.logit(label, 0.3) == pytest.approx(2.0 * np.log(0.3 / 0.7) + offset, abs=0.25)
    assert evidence.logit("not measured", 0.5) == pytest.approx(0.0, abs=1e-3)
    share = np.mean([true for *_, true in told])
    assert evidence.prior == pytest.approx(np.log(share / (1.0 - share)), abs=1e-3)
    with pytest.raises(ValueError, match="true and false"):
        fit_evidence([("cup", 0.3, False)], 0.5)


def test_detections_of_a_recording_are_judged_by_its_labels():
    room, frame = cup_in_view()
    on, off = ImageBox(60, 40, 30, 20), ImageBox(0, 0, 20, 20)
    found = [("mug", 0.3, on), ("cup", 0.6, on), ("cup", 0.2, off), ("bed", 0.5, off), ("bed", 0.3, off)]

    class Found:
        def find(self, rgb):
            return [FoundThing(*one) for one in found]

    # the mug is the cup again, and a faint bed where no bed is labelled says nothing
    told = judged(room, iter([frame]), Found(), 0.4)
    assert told == [("cup", 0.6, True), ("bed", 0.5, False), ("cup", 0.2, False)]


def test_a_labelled_thing_in_a_frame_is_a_sight_and_nothing_else_is():
    room, frame = cup_in_view()
    detector = _Everything(("cup", ImageBox(63, 40, 27, 20)), ("bed", ImageBox(0, 0, 20, 20)))
    sights = recorded(room, iter([frame]), detector, coco_class)
    (one,) = sights.things
    assert not sights.strays and (one.found, one.distance, one.kind) == ("cup", 1.0, "cup")
    assert one.size == pytest.approx(4 * np.sqrt(600), rel=0.05) and one.edges[0] == pytest.approx(
        0.1, abs=0.01
    )


def test_views_of_a_building_give_sights_of_its_things_and_strays_elsewhere():
    world = world_from_spec("apartment", 3)
    detector = _Everything(("bed", ImageBox(0, 0, 12, 12)))
    sights = rendered(world, "apartment 3", 3, detector, coco_class, 8)
    assert sights.frames == 8 and len(sights.strays) == 8 and all(stray.again for stray in sights.strays[1:])
    assert sights.things and all(one.score == 0.0 and one.distance > 0.0 for one in sights.things)


def test_every_label_of_the_table_is_one_of_the_simulator():
    labels = set(CATALOGUE)
    assert set(COCO_OF) <= labels, set(COCO_OF) - labels
    assert (coco_class("armchair"), coco_class("desk"), coco_class("tv")) == ("chair", "", "tv")
    assert (coco_class("mouse"), coco_class("mouse", ("mouse", "cup")), coco_class("mug", ("mouse", "cup"))) == (
        "", "mouse", "cup",
    )  # fmt: skip


def test_a_recording_that_is_none_is_told(tmp_path, capsys):
    assert main(["detector-noise", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == EXIT_USAGE
    assert "frame-NNNNNN" in capsys.readouterr().err


def test_what_a_detector_has_no_class_for_is_neither_hit_nor_miss():
    edges = (0.1, 0.1, 0.1, 0.1)
    seen = Sight("cup 1", "cup", 100.0, 2.0, 0.6, "cup", edges)
    missed = Sight("cup 2", "cup", 100.0, 2.0)
    board = Sight("board", "", 100.0, 2.0)
    taken = Sight("board 2", "", 100.0, 2.0, 0.5, "tv", edges)
    strays = Sights(1, (), ())
    named = fit(Sights(1, (seen, missed), ()), strays, {}, "here")
    more = fit(Sights(1, (seen, board, missed, taken), ()), strays, {}, "here")
    assert more.record == named.record and (more.sights == named.sights).all()
    assert _recall((seen, board, missed, taken)) == 0.5
