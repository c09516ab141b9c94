"""Mapping from the simulator's labels to COCO classes."""

from __future__ import annotations

from collections.abc import Collection

#: COCO class by simulator label; labels outside COCO are missing.
COCO_OF = {
    "armchair": "chair", "backpack": "backpack", "ball": "sports ball", "bed": "bed", "bench": "bench", "book": "book",
    "books": "book", "bottle": "bottle", "bowl": "bowl", "chair": "chair", "clock": "clock", "handbag": "handbag",
    "keyboard": "keyboard", "laptop": "laptop", "meeting table": "dining table", "microwave": "microwave",
    "monitor": "tv", "mug": "cup", "plant": "potted plant", "refrigerator": "refrigerator", "sink": "sink",
    "sofa": "couch", "stove": "oven", "suitcase": "suitcase", "table": "dining table", "teddy bear": "teddy bear",
    "telephone": "cell phone", "television": "tv", "toilet": "toilet", "vase": "vase",
}  # fmt: skip


def coco_class(label: str, names: Collection[str] = COCO_OF.values()) -> str:
    """Return the COCO class of a simulator label, or the label itself if it is one of `names`, else "".

    names: class names, such as all classes of a detector; the default is not all of COCO.
    """
    return COCO_OF.get(label, label if label in names else "")
