"""Score a network on labelled images as the robot runs it: with ONNX Runtime and the detector's own decoder."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from lodestar.perception.config import OnnxConfig
from lodestar.perception.onnx_detector import OnnxDetector
from lodestar_sim.dataset.coco import Annotation, CocoError, decode_mask, read_instances
from segmenter.data import COLORS

OVERLAP = 0.5  # least IoU of a match between a found and a true object
LEAST_PIXELS = 60  # least pixels of a true object that must be found


def score(
    model: Path, folder: Path, jobs: int, most: int = 0, config: OnnxConfig = OnnxConfig()
) -> dict[str, Any]:
    """Return precision, recall and mean IoU of found objects, over all and by class.

    most: number of images, 0 = all. Raises CocoError for a folder whose images cannot be read.
    """
    instances = read_instances(folder)
    names = {category.id: category.name for category in instances.categories}
    by_image: dict[int, list[Annotation]] = {image.id: [] for image in instances.images}
    for one in instances.annotations:
        by_image[one.image_id].append(one)
    images = instances.images[:: max(len(instances.images) // most, 1)] if most else instances.images
    todo = [
        (str(folder / image.file_name), [(names[one.category_id], one) for one in by_image[image.id]])
        for image in images
    ]
    parts = [todo[start::jobs] for start in range(jobs) if todo[start::jobs]]
    work = partial(_score_part, model, config)
    if len(parts) > 1:
        with multiprocessing.get_context("spawn").Pool(len(parts)) as pool:
            made = pool.map(work, parts)
    else:
        made = [work(part) for part in parts]
    rows, colors, times = ([one for parts in made for one in parts[place]] for place in range(3))
    told = [pair for pair in colors if pair[0]]
    return {
        **_summary(rows),
        "color_told": sum(bool(found) for _, found in told) / max(len(told), 1),
        "color_right_of_told": sum(true == found for true, found in told)
        / max(sum(bool(f) for _, f in told), 1),
        "milliseconds": 1000.0 * float(np.median(times)) if times else 0.0,
    }


def color_in(caption: str) -> str:
    """Return the first colour of a caption, "" if it names none."""
    return next((word for word in caption.split() if word in COLORS), "")


def _score_part(
    model: Path, config: OnnxConfig, todo: Sequence[tuple[str, list]]
) -> tuple[list, list, list[float]]:
    """Return rows (true class or "", found class or "", IoU), colours (true, found) and the seconds of each image."""
    cv2.setNumThreads(1)
    detector = OnnxDetector(model, config)
    rows: list[tuple[str, str, float]] = []
    colors: list[tuple[str, str]] = []
    times = []
    for file_name, truth in todo:
        read = cv2.imread(file_name)
        if read is None:
            raise CocoError(f"{file_name} is missing or broken")
        rgb = np.ascontiguousarray(read[:, :, ::-1])
        began = time.perf_counter()
        frame = detector.detect(0.0, rgb)
        times.append(time.perf_counter() - began)
        masks = [(name, decode_mask(one.segmentation), one.caption) for name, one in truth]
        taken = set()
        for found in frame.detections:
            mine = frame.labels == found.label_value
            overlaps = [
                0.0 if place in taken else (mine & mask).sum() / (mine | mask).sum()
                for place, (_, mask, _) in enumerate(masks)
            ]
            best = int(np.argmax(overlaps)) if overlaps else -1
            if best >= 0 and overlaps[best] >= OVERLAP:
                taken.add(best)
                rows.append((masks[best][0], found.label, float(overlaps[best])))
                colors.append((color_in(masks[best][2]), color_in(found.caption)))
            else:
                rows.append(("", found.label, 0.0))
        rows += [
            (name, "", 0.0) for place, (name, mask, _) in enumerate(masks)
            if place not in taken and mask.sum() >= LEAST_PIXELS
        ]  # fmt: skip
    return rows, colors, times


def _summary(rows: list[tuple[str, str, float]]) -> dict[str, Any]:
    classes = sorted({row[0] for row in rows} | {row[1] for row in rows} - {""})
    by_class = {}
    for name in classes:
        if not name:
            continue
        right = [row[2] for row in rows if row[0] == row[1] == name]
        true = sum(row[0] == name for row in rows)
        found = sum(row[1] == name for row in rows)
        mixed = [row[1] for row in rows if row[0] == name and row[1] not in ("", name)]
        by_class[name] = {
            "true": true,
            "recall": round(len(right) / true, 3) if true else None,
            "precision": round(len(right) / found, 3) if found else None,
            "iou": round(float(np.mean(right)), 3) if right else None,
            "taken_for": max(set(mixed), key=mixed.count) if mixed else "",
        }
    right = [row[2] for row in rows if row[0] and row[0] == row[1]]
    true, found = sum(bool(row[0]) for row in rows), sum(bool(row[1]) for row in rows)
    matched = sum(row[2] >= OVERLAP for row in rows)
    return {
        "things": true,
        "recall": len(right) / max(true, 1),
        "precision": len(right) / max(found, 1),
        "iou": float(np.mean(right)) if right else 0.0,
        "found_whatever_class": matched / max(true, 1),
        "class_right_of_found": len(right) / max(matched, 1),
        "by_class": by_class,
    }
