"""Tests of rooms of look-alikes, and of the errors counted in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lodestar.assembly.config import changed
from lodestar.mapping.instances.records import InstanceDelta, Observation
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import Detection, ImageBox
from lodestar_eval.instance_metrics import IdentityWatch
from lodestar_eval.instance_runs import Building, Variant
from lodestar_eval.lookalikes import lookalike_room
from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
from lodestar_eval.simulated_robot import SimulatedRobot
from lodestar_sim.simulator import Simulator


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_room_has_clusters_of_one_kind_that_do_not_overlap(seed):
    alike, colored = (lookalike_room(paint, seed) for paint in ("alike", "colored"))
    kinds = Counter(thing.category for thing in alike.objects)
    assert len(kinds) == 4 and all(4 <= count <= 8 for count in kinds.values())
    for kind in kinds:
        own = [thing for thing in alike.objects if thing.category == kind]
        assert len({(thing.color, thing.mesh, thing.size) for thing in own}) == 1
        for index, one in enumerate(own):
            for other in own[index + 1 :]:
                gap = np.abs(np.subtract(one.xy, other.xy)) - max(one.size[:2])
                assert gap.max() > 0.0, "they stand beside each other"
    assert len({(t.category, t.color) for t in colored.objects}) > len(kinds), "a kind has several colours"
    assert [replace(t, color="", caption="") for t in alike.objects] == [
        replace(t, color="", caption="") for t in colored.objects
    ], "the paint alone differs"


def test_another_paint_is_refused():
    with pytest.raises(ValueError, match="there are alike, colored"):
        lookalike_room("plaid", 1)


def test_an_object_that_another_has_swallowed_is_a_merge():
    watch, boxes = IdentityWatch(), [ImageBox(x, 0, 5, 5) for x in (0, 10, 20)]
    detections = tuple(Detection(i, "chair", "chair", 0.9, box, 20 + i) for i, box in enumerate(boxes, 1))
    seen = tuple(
        Observation(instance, 0.0, np.eye(4), d.box, d.pixel_count, d.label, d.caption, 0.9, 1.0)
        for instance, d in zip((7, 7, 8), detections)
    )
    watch.add(InstanceDelta(0.0, 1, 0, observations=seen), detections, [1, 2, 3], lambda i: i)
    objects = watch.objects_of([7, 8], lambda i: i)
    assert watch.merged(objects, [1, 2, 3], lambda i: i) == 1
    assert watch.merged(objects, [2, 3], lambda i: i) == 0


def test_the_same_tour_with_and_without_features(monkeypatch):
    """Each map gets its own features, and only the one with the truth gets vectors of the true objects."""
    variants = [Variant("masks", feature) for feature in ("none", "histogram", "truth")]
    building = Building(lookalike_room("colored", 1), 1, variants)
    for _, frame in zip(range(6), building.tour.frames()):
        building._take(frame)
    models = {
        each.variant.feature: {t.appearance_model for t in each.voxels._registry.tracks.values()}
        for each in building.maps
    }
    assert models == {"none": {""}, "histogram": {"histogram-1"}, "truth": {"truth"}}
    captions = {t.caption for each in building.maps for t in each.voxels._registry.tracks.values()}
    assert captions <= {thing.category for thing in building.world.objects}, "captions tell no colours"


@pytest.mark.parametrize("by", ["none", "histogram"])
def test_the_headless_robot_keeps_how_things_look(by):
    robot = changed(robot_config(NOISES["none"]), shared__appearance__by=by)
    simulator = Simulator(lookalike_room("colored", 1), seed=1)
    searcher = SimulatedRobot(simulator, EpisodeSettings(robot=robot), PhraseBook(), np.random.default_rng(1))
    for _ in range(5):
        simulator.step(0.5)
        searcher.look()
    entities = searcher.headless.map.scene.dictionary.entities().values()
    found = [e.embeddings["appearance"].model for e in entities if "appearance" in e.embeddings]
    assert len(entities) >= 1 and set(found) == ({"histogram-1"} if by == "histogram" else set())
