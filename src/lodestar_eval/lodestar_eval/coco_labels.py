"""Labels of the simulator that are classes of COCO."""

from __future__ import annotations

from collections.abc import Collection

#: Label of the simulator -> class of COCO; a label that is missing is outside of COCO.
COCO_OF = {
    "armchair": "chair", "backpack": "backpack", "ball": "sports ball", "bed": "bed", "bench": "bench", "book": "book",
    "books": "book", "bottle": "bottle", "bowl": "bowl", "chair": "chair", "clock": "clock", "handbag": "handbag",
    "keyboard": "keyboard", "laptop": "laptop", "meeting table": "dining table", "microwave": "microwave",
    "monitor": "tv", "mug": "cup", "plant": "potted plant", "refrigerator": "refrigerator", "sink": "sink",
    "sofa": "couch", "stove": "oven", "suitcase": "suitcase", "table": "dining table", "teddy bear": "teddy bear",
    "telephone": "cell phone", "television": "tv", "toilet": "toilet", "vase": "vase",
}  # fmt: skip


def coco_class(label: str, names: Collection[str] = COCO_OF.values()) -> str:
    """Return the class of COCO of a label of the simulator, or the label where it is one of `names`; "" = none.

    names: classes, such as all of a detector; those of the table are not all of COCO.
    """
    return COCO_OF.get(label, label if label in names else "")
