"""Image encoders in ONNX files: CLIP, SigLIP, DINO."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from lodestar.perception.appearance import check_image
from lodestar.perception.config import EncoderConfig
from lodestar.perception.encoder_network import EncoderNetwork
from lodestar.perception.frames import DetectorUnavailable, ImageBox, SegmentedFrame


class ImageEncoder:
    """Describes each segment by the encoder's vector of its crop. Creation loads the network.

    Raises DetectorUnavailable.
    """

    def __init__(self, config: EncoderConfig):
        self.config = config
        self.model = Path(config.model).name
        self.dropped = 0  # number of vectors that were not finite, or zero
        self._network = EncoderNetwork(Path(config.model), config)
        shape = self._network.shapes[self._network.inputs[0]]
        if len(shape) != 4:
            raise DetectorUnavailable(f"{config.model} reads {shape}, not images [N, 3, height, width]")
        self._size = tuple(side if isinstance(side, int) else config.image_size for side in shape[2:])
        self._batch = shape[0] if isinstance(shape[0], int) else config.crops
        self._encode(np.zeros((1, 3, *self._size), np.float32))

    def describe(self, rgb: np.ndarray, frame: SegmentedFrame) -> SegmentedFrame:
        """Return the frame with features of its largest segments; see `Describer`.

        Raises DetectorUnavailable.
        """
        check_image(rgb, frame)
        order = sorted(range(len(frame.detections)), key=lambda i: -frame.detections[i].pixel_count)
        chosen = [i for i in order if frame.detections[i].pixel_count > 0][: self.config.crops]
        if not chosen:
            return frame
        found = list(frame.detections)
        vectors = self._encode(np.stack([self._crop(rgb, found[i].box) for i in chosen]))
        for i, vector in zip(chosen, vectors):
            length = float(np.linalg.norm(vector))
            if np.isfinite(length) and length > 1e-6:
                unit = (vector / length).astype(np.float32)
                found[i] = replace(found[i], feature=unit, feature_model=self.model)
            else:
                self.dropped += 1
        return replace(frame, detections=tuple(found))

    def _crop(self, rgb: np.ndarray, box: ImageBox) -> np.ndarray:
        """Return the normalised crop (3, h, w) float32 of a box with a margin."""
        config, (height, width) = self.config, rgb.shape[:2]
        dx, dy = round(config.margin * box.width), round(config.margin * box.height)
        left, top = min(max(box.x - dx, 0), width - 1), min(max(box.y - dy, 0), height - 1)
        right, bottom = max(box.x + box.width + dx, left + 1), max(box.y + box.height + dy, top + 1)
        part = np.ascontiguousarray(rgb[top:bottom, left:right])
        picture = cv2.resize(part, self._size[::-1], interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0
        normal = (picture - np.array(config.mean, np.float32)) / np.array(config.std, np.float32)
        return normal.transpose(2, 0, 1)

    def _encode(self, crops: np.ndarray) -> np.ndarray:
        """Return vectors (N, D) of crops (N, 3, h, w). A fixed batch size is filled up with zeros."""
        rows = []
        for start in range(0, len(crops), self._batch):
            part = crops[start : start + self._batch]
            fixed = isinstance(self._network.shapes[self._network.inputs[0]][0], int)
            full = np.zeros((self._batch, *part.shape[1:]), np.float32) if fixed else part
            full[: len(part)] = part
            rows.append(self._network.run({self._network.inputs[0]: full}, len(full))[: len(part)])
        return np.concatenate(rows)
