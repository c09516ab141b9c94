"""Tests of segment features: the histogram, image encoders in ONNX files, and the text encoder of a pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from encoders import write_image_encoder, write_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig, changed
from lodestar.perception.appearance import DIMENSION, HistogramDescriber
from lodestar.perception.config import DescriberConfig, EncoderConfig
from lodestar.perception.frames import Detection, DetectorUnavailable, ImageBox, SegmentedFrame
from lodestar.perception.image_encoder import ImageEncoder
from lodestar.perception.segments import label_extents
from lodestar.perception.text_encoder import TextEncoder

SIZE = 48, 64


def frame_of(labels: np.ndarray) -> SegmentedFrame:
    found = tuple(Detection(v, "thing", "thing", 0.9, box, n) for v, box, n in label_extents(labels))
    return SegmentedFrame(0.0, labels, found)


def painted(
    *colors: tuple[int, int, int], noise: int = 0, seed: int = 0
) -> tuple[np.ndarray, SegmentedFrame]:
    """Return an image of vertical stripes in these colours, each a segment, separated by gray gaps."""
    image, labels = np.full((*SIZE, 3), 128, np.uint8), np.zeros(SIZE, np.uint16)
    width = SIZE[1] // len(colors)
    for index, color in enumerate(colors):
        columns = slice(index * width + 1, (index + 1) * width - 1)
        image[:, columns], labels[:, columns] = color, index + 1
    shaken = image + np.random.default_rng(seed).integers(-noise, noise + 1, image.shape)
    return np.clip(shaken, 0, 255).astype(np.uint8), frame_of(labels)


def features(image: np.ndarray, frame: SegmentedFrame) -> list[np.ndarray | None]:
    return [d.feature for d in HistogramDescriber().describe(image, frame).detections]


def test_a_colour_is_like_itself_in_other_light_and_unlike_others():
    image, frame = painted((200, 30, 32), (160, 24, 26), (36, 82, 196), (240, 240, 238), noise=6)
    red, darker, blue, white = features(image, frame)
    assert red @ darker > 0.9
    assert max(red @ blue, red @ white, blue @ white) < 0.7


def test_texture_tells_things_of_one_colour_apart():
    image, frame = painted((120, 120, 120), (120, 120, 120), (120, 120, 120))
    bands = np.arange(64) % 6 < 3
    image[bands[:48], 22:41] = 90  # horizontal stripes
    image[:, 42:62][:, bands[42:62]] = 90  # vertical stripes
    plain, across, along = features(image, frame)
    assert max(plain @ across, across @ along, plain @ along) < 0.93


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 40), st.integers(1, 40))
def test_every_mask_gets_a_unit_vector_of_non_negative_numbers(seed, count, height, width):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    labels = (rng.integers(0, count + 1, (height, width)) * (rng.random((height, width)) < 0.7)).astype(
        np.uint16
    )
    for vector in features(image, frame_of(labels)):
        assert vector is not None and vector.shape == (DIMENSION,) and vector.dtype == np.float32
        assert np.isfinite(vector).all() and (vector >= 0).all()
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("color", [(0, 0, 0), (255, 255, 255), (255, 0, 0)])
def test_an_image_of_one_colour_and_masks_of_one_pixel(color):
    labels = np.zeros(SIZE, np.uint16)
    labels[0, 0], labels[20, 20], labels[30:, 30:] = 1, 2, 3
    image = np.full((*SIZE, 3), color, np.uint8)
    found = features(image, frame_of(labels))
    assert all(np.isfinite(v).all() for v in found)
    assert min(found[0] @ found[1], found[1] @ found[2]) > 0.99, "all show the same"


def test_a_mask_without_pixels_and_a_frame_without_masks_have_no_feature():
    image, frame = painted((200, 30, 32))
    ghost = Detection(9, "ghost", "ghost", 0.5, ImageBox(0, 0, 4, 4), 0)
    assert features(image, replace(frame, detections=(*frame.detections, ghost)))[1] is None
    assert features(image, replace(frame, detections=())) == []
    assert features(image, frame_of(np.zeros(SIZE, np.uint16))) == []


def test_an_image_of_another_size_or_type_is_refused():
    image, frame = painted((200, 30, 32))
    for wrong in (image[:-1], image.astype(np.float32), image[..., 0]):
        with pytest.raises(ValueError, match="image of the segments"):
            HistogramDescriber().describe(wrong, frame)


# --- encoders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["image_embeds", "tokens", "unnamed", "fixed"])
def test_an_encoder_describes_crops_whatever_the_form_of_its_output(tmp_path, form):
    path = write_image_encoder(tmp_path / "clip.onnx", form)
    image, frame = painted((255, 0, 0), (0, 255, 0), (255, 0, 0))
    encoder = ImageEncoder(EncoderConfig(str(path), mean=(0, 0, 0), std=(1, 1, 1), margin=0.0))
    found = encoder.describe(image, frame).detections
    assert {d.feature_model for d in found} == {"clip.onnx"}
    red, green, again = (d.feature for d in found)
    assert red @ again == pytest.approx(1.0, abs=1e-5) and red @ green < 0.5
    assert np.linalg.norm(red) == pytest.approx(1.0, abs=1e-5)


def test_an_encoder_takes_the_largest_masks_first(tmp_path):
    config = EncoderConfig(str(write_image_encoder(tmp_path / "clip.onnx", "tokens")), crops=1)
    labels = np.zeros(SIZE, np.uint16)
    labels[:4, :4], labels[10:, 10:] = 1, 2
    found = ImageEncoder(config).describe(np.full((*SIZE, 3), 90, np.uint8), frame_of(labels)).detections
    assert [d.feature is not None for d in found] == [False, True]


def test_vectors_that_are_not_finite_are_dropped_and_counted(tmp_path):
    encoder = ImageEncoder(EncoderConfig(str(write_image_encoder(tmp_path / "bad.onnx", "nan"))))
    found = encoder.describe(*painted((255, 0, 0), (0, 255, 0))).detections
    assert [d.feature for d in found] == [None, None] and encoder.dropped == 2


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("scalar", "not one vector"),
        ("words", "not images"),
        ("missing", "no encoder"),
        ("torn", "cannot be loaded"),
    ],
)
def test_a_file_that_is_no_encoder_is_refused_with_a_sentence(tmp_path, form, said):
    path = tmp_path / "other.onnx"
    if form == "torn":
        path.write_bytes(write_image_encoder(path, "tokens").read_bytes()[:60])
    elif form != "missing":
        write_image_encoder(path, form)
    with pytest.raises(DetectorUnavailable, match=said):
        parts.appearance_describer(
            changed(
                PerceptionConfig(), appearance=DescriberConfig("encoder", encoder=EncoderConfig(str(path)))
            )
        )


def test_the_text_side_of_a_pair_speaks_of_what_the_image_side_sees(tmp_path):
    config = write_pair(tmp_path)
    found = ImageEncoder(config).describe(*painted((255, 0, 0), (0, 255, 0))).detections
    text = TextEncoder(config)
    red, green = text.embed(["a red thing", "green"])
    assert text.model == found[0].feature_model
    assert found[0].feature @ red > 0.9 > found[0].feature @ green
    assert found[1].feature @ green > 0.9 > found[1].feature @ red


def test_a_configuration_that_cannot_work_is_refused():
    with pytest.raises(ValueError, match="it is one of"):
        DescriberConfig(by="clip")
    with pytest.raises(ValueError, match="path of an"):
        DescriberConfig(by="encoder")
    with pytest.raises(ValueError, match="belong together"):
        EncoderConfig("a.onnx", text_model="b.onnx")
