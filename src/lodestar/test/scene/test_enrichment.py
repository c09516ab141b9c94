"""Tests of late captions and vectors: queue, templates, fusion by visibility, and faults."""

from __future__ import annotations

import numpy as np
import pytest
from scene_builders import Feed, camera_at, instance, sighting

from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import CaptionVote, Merge
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.perception.frames import ImageBox
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.enrichment import (
    Enricher,
    Enrichment,
    EnrichmentTask,
    TemplateCaptioner,
    crop_color,
    crop_of,
)
from lodestar.scene.fusion import FusedVector, add_weight, fuse_captions
from lodestar.scene.records import View


class Book:
    """Phrase book in which every phrase has a separate axis, in the order of requests."""

    model = "axes"

    def embed(self, phrases):
        return np.stack([np.eye(8, dtype=np.float32)[len(p) % 8] for p in phrases])


@pytest.fixture
def scene():
    return SceneDictionary()


@pytest.fixture
def feed():
    return Feed()


def enricher(scene, **options):
    return Enricher(scene, TemplateCaptioner(), PhraseBook(Book()), **options)


def labelled(identity, label, size=(0.5, 0.5, 0.5), **changes):
    half = np.array(size) / 2
    center = np.array([0.0, 0.0, half[2]])
    votes = (CaptionVote(label, label, 3.0),)
    return instance(
        identity, center, votes=votes, box_min=center - half, box_max=center + half, label=label, **changes
    )


def task(label, caption="", attributes=(), size=(0.5, 0.5, 0.5)):
    return EnrichmentTask(1, label, caption or label, attributes, {}, np.array(size), ())


def painted(color, size=20):
    return np.full((size, size, 3), color, np.uint8)


def test_a_new_entity_and_one_with_a_new_view_are_queued_once(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0.5)))))
    assert scene.enrichments_waiting == 2
    enricher(scene).work()
    assert scene.enrichments_waiting == 0
    scene.update(feed(observations=(sighting(1, stamp=5.0),)))
    scene.update(feed(observations=(sighting(1, stamp=6.0),)))  # from the same side, so no new view
    assert scene.enrichments_waiting == 1


def test_vectors_are_written_back_and_come_with_the_next_delta(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    assert enricher(scene).work() == 1
    embedding = scene.flush().updated[0].embeddings["caption"]
    assert embedding.model == "axes"
    assert np.linalg.norm(embedding.vector) == pytest.approx(1.0)
    scene.return_enrichments([1])
    enricher(scene).work()
    assert scene.flush().updated == (), "the same vector is no change"


def test_vectors_are_fused_by_visibility(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    near = sighting(1, stamp=2.0, pixels=2500, caption="red seat")  # 8 letters give axis 0
    far = sighting(
        1, stamp=3.0, pixels=100, caption="red chair", pose=camera_at(-4, 0, 0)
    )  # 9 letters give axis 1
    scene.update(feed(observations=(near, far)))
    enricher(scene).work()
    vector = scene.flush().updated[0].embeddings["caption"].vector
    assert vector[0] > 2.0 * vector[1] > 0.0


def test_what_the_embedder_cannot_give_yet_is_tried_again(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    late = Enricher(scene, TemplateCaptioner(), PhraseBook())
    with pytest.raises(MissingPhrases):
        late.work()
    assert scene.enrichments_waiting == 1


def test_an_entity_that_is_gone_meanwhile_is_left_out(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0.5)))))
    tasks = scene.take_enrichments(8)
    scene.update(feed(removed=(2,), merges=(Merge(1, 9),)))
    for each in tasks:
        scene.enrich(Enrichment(each.entity_id, each.label, "tall chair", "m", np.eye(4)[0]))
    scene.return_enrichments([2])
    assert scene.enrichments_waiting == 1  # only the merged entity waits
    assert scene.flush().updated[0].embeddings["caption"].model == "m"


def test_a_caption_is_made_where_the_votes_say_only_the_label(scene, feed):
    scene.update(feed(updated=(labelled(1, "cabinet", (0.6, 0.4, 2.0)), instance(2, (3, 0, 0.5)))))
    scene.update(feed(observations=(sighting(1, stamp=3.0, label="cabinet", caption="cabinet"),)))
    brown = painted((110, 70, 30))
    enricher(scene, crops=lambda task: [brown] if task.views else []).work()
    scene.flush()
    assert scene.entities()[1].caption == "tall brown cabinet"
    assert "brown" in scene.entities()[1].attributes
    assert scene.entities()[2].caption == "red chair", "what the votes say stays"


def test_a_made_caption_goes_with_its_label(scene, feed):
    scene.update(feed(updated=(labelled(1, "cabinet", (0.6, 0.4, 2.0)),)))
    enricher(scene).work()
    assert scene.flush().updated[0].caption == "tall cabinet"
    votes = (CaptionVote("door", "door", 9.0), CaptionVote("cabinet", "cabinet", 3.0))
    delta = scene.update(feed(updated=(labelled(1, "cabinet", (0.6, 0.4, 2.0)), instance(1, votes=votes))))
    assert delta.updated[-1].caption == "door"


def test_a_view_whose_image_was_kept_is_looked_at_again(scene, feed):
    scene.update(feed(updated=(instance(1),), observations=(sighting(1, stamp=4.0),)))
    scene.take_enrichments(8)
    camera = PinholeCamera(64, 48, 38, 38, 31.5, 23.5)
    scene.link_keyframe(Keyframe(7, 4.0, np.eye(4), camera, {1: ImageBox(0, 0, 1, 1)}))
    assert [v.keyframe_id for v in scene.take_enrichments(8)[0].views] == [7]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (task("cabinet", size=(0.5, 0.5, 2.0)), "tall cabinet"),
        (task("table", size=(2.0, 0.9, 0.7)), "wide table"),
        (task("mug"), ""),
        (task("mug", attributes=("blue",)), "blue mug"),
        (task("chair", caption="red chair"), ""),
        (task(""), ""),
    ],
)
def test_templates(given, made):
    assert TemplateCaptioner().caption(given, tuple) == made


@pytest.mark.parametrize(
    ("color", "name"),
    [
        ((200, 30, 30), "red"),
        ((30, 60, 200), "blue"),
        ((240, 240, 240), "white"),
        ((10, 10, 10), "black"),
        ((120, 120, 120), "gray"),
        ((110, 70, 30), "brown"),
    ],
)
def test_colors_of_crops(color, name):
    assert crop_color(painted(color)) == name


def test_a_crop_of_many_colors_has_none():
    checks = np.random.default_rng(1).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    assert crop_color(checks) == ""
    assert crop_color(np.zeros((0, 5, 3), np.uint8)) == ""


def test_a_crop_stays_inside_its_image():
    view = View(0.0, np.eye(4), ImageBox(-5, 40, 20, 20))
    assert crop_of(painted((1, 2, 3), 48), view).shape == (8, 15, 3)
    assert crop_of(painted((1, 2, 3), 48), View(0.0, np.eye(4), ImageBox(60, 60, 9, 9))).size == 0


def test_fusion_is_a_weighted_mean_and_ignores_what_is_no_vector():
    x, y = np.eye(3, dtype=np.float32)[:2]
    fused = FusedVector.join(FusedVector.of(10 * x, 3.0), FusedVector.of(y, 1.0))
    assert fused.unit == pytest.approx(np.array([3, 1, 0]) / np.sqrt(10))
    for bad in (np.full(3, np.nan), np.zeros(3)):
        assert FusedVector.of(bad, 1.0) is None
    assert FusedVector.of(x, 0.0) is None
    assert FusedVector.join(fused, FusedVector.of(np.ones(5), 1.0)) is fused, "another model's"
    assert fuse_captions({"a": 1.0}, {}) is None


def test_the_lightest_of_too_many_captions_goes():
    weights: dict[str, float] = {}
    for index in range(6):
        add_weight(weights, f"c{index}", 1.0 + index, 3)
    assert set(weights) == {"c3", "c4", "c5"}
