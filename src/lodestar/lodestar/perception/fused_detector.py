"""Several networks read as one detector: their detections are evidence, calibrated on real frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.geometry.boxes import box_iou
from lodestar.models.kinship import label_for, same_kind
from lodestar.perception.box_masks import BoxMasker, with_masks
from lodestar.perception.config import OnnxConfig
from lodestar.perception.found_things import FoundThing, segmented
from lodestar.perception.frames import AlignedDepth, DetectorUnavailable, SegmentedFrame, Vocabulary
from lodestar.perception.measured_noise import EVIDENCE_LEAST, Evidence, measured_noise
from lodestar.perception.onnx_detector import OnnxDetector, check_image

FUSED_NOISE = "nanodet_objectron"  # statistics of perception/measured/ that hold each network's evidence
FUSED_IOU = 0.4  # least IoU of the boxes of one thing; chosen: that of `detector-noise`
FUSED_LEAST = 0.0  # least log-odds of a detection: what is as likely true as not


@dataclass
class _Candidate:
    """A thing that one or more networks detect. logit: of its probability. members: their numbers."""

    logit: float
    members: set[int]
    thing: FoundThing


class FusedDetector:
    """Runs several networks on each image, and returns what they detect together.

    Detections of one kind whose boxes coincide are one thing. The log-odds of the networks' evidence add up; a network
    that has detected the kind where it was measured, and not this thing, is evidence against it. Scores are
    probabilities.
    masker: as of `OnnxDetector`. evidence: of each network, by the name of its file; None = the packaged one.
    """

    def __init__(
        self,
        models: Sequence[str | Path],
        config: OnnxConfig = OnnxConfig(),
        evidence: dict[str, Evidence] | None = None,
    ):
        self.masker: BoxMasker | None = None
        paths = [Path(model) for model in models]
        known = measured_noise(FUSED_NOISE).evidence if evidence is None else evidence
        self._missing = [path.stem for path in paths if path.stem not in known]
        self._evidence = [known.get(path.stem, Evidence()) for path in paths]
        self._members = [OnnxDetector(path, replace(config, confidence=EVIDENCE_LEAST)) for path in paths]
        self._min_pixels, self._confidence = config.min_pixels, config.confidence
        self.name = "+".join(one.name for one in self._members)

    @property
    def odd_boxes(self) -> int:
        """Return the number of invalid boxes in all images."""
        return sum(one.odd_boxes for one in self._members)

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the classes of all networks; loads them. Raises DetectorUnavailable."""
        return Vocabulary(tuple(dict.fromkeys(n for one in self._members for n in one.load().names)))

    def look_for(self, words: Sequence[str]) -> None:
        """Do nothing: the classes are fixed."""

    def check(self) -> None:
        """Check that the files exist and were measured, without loading them. Raises DetectorUnavailable."""
        for one in self._members:
            one.check()
        if self._confidence != OnnxConfig.confidence:
            raise DetectorUnavailable(
                "onnx.confidence is of one network; several are told by their calibrated probability: leave it out"
            )
        if self._missing:
            raise DetectorUnavailable(
                f"no evidence was measured for {', '.join(self._missing)}: measure the networks by "
                f"`python -m lodestar_eval detector-noise` into {FUSED_NOISE}.json, or name one network alone"
            )

    def detect(self, stamp: float, rgb: np.ndarray, depth: AlignedDepth | None = None) -> SegmentedFrame:
        """Return the segments of an (H, W, 3) uint8 image. Raises DetectorUnavailable; ValueError for other arrays."""
        check_image(rgb)
        things = with_masks(self.find(rgb), depth, self.masker)
        return segmented(stamp, rgb.shape[:2], things, self.name, self._min_pixels)

    def find(self, rgb: np.ndarray) -> list[FoundThing]:
        """Return the things in an (H, W, 3) uint8 image, without masks from depth. Raises DetectorUnavailable."""
        self.check()
        found = [
            _Candidate(evidence.logit(thing.label, thing.score), {number}, thing)
            for number, (member, evidence) in enumerate(zip(self._members, self._evidence))
            for thing in member.find(rgb)
        ]
        joined = self._joined(sorted(found, key=lambda one: -one.logit))
        told = [(one.thing, one.logit + self._silence(one)) for one in joined if one.logit >= FUSED_LEAST]
        return [replace(thing, score=1.0 / (1.0 + math.exp(-z))) for thing, z in told if z >= FUSED_LEAST]

    def _joined(self, found: Sequence[_Candidate]) -> list[_Candidate]:
        """Return one candidate per thing. found: the likeliest first."""
        boxes = np.array([(b.x, b.y, b.width, b.height) for b in (one.thing.box for one in found)], float)
        low = boxes.reshape(-1, 4)[:, :2]
        high = low + boxes.reshape(-1, 4)[:, 2:]
        near = box_iou(low[:, None], high[:, None], low[None], high[None]) >= FUSED_IOU
        kept: list[int] = []
        for index, one in enumerate(found):
            same = next(
                (k for k in kept if near[k, index] and same_kind(found[k].thing.label, one.thing.label)), None
            )
            if same is None:
                kept.append(index)
            elif not one.members & found[same].members:
                (number,) = one.members
                known = found[same]
                known.logit += one.logit - self._evidence[number].prior
                label = known.thing.label if min(known.members) < number else one.thing.label
                known.thing, known.members = replace(known.thing, label=label), known.members | {number}
        return [found[k] for k in kept]

    def _silence(self, one: _Candidate) -> float:
        """Return the log-odds, 0 or less, of the networks that know the kind and do not detect the thing."""
        total = 0.0
        for number, (member, evidence) in enumerate(zip(self._members, self._evidence)):
            label = "" if number in one.members else label_for(one.thing.label, member.load().names)
            if label in evidence.seen:
                total += min(evidence.logit(label, EVIDENCE_LEAST) - evidence.prior, 0.0)
        return total
