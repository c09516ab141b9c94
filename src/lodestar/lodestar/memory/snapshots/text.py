"""Description of an image: labels with their counts, and relations of their boxes in the image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lodestar.perception.frames import ImageBox

MOST_RELATIONS = 6
MOST_LABELS = 16
_UNSEEN = ("", "unknown")


def snapshot_text(items: Sequence[tuple[str, ImageBox]]) -> str:
    """Return a description such as "2 chairs, lamp, table; lamp on table".

    items: label (untrusted) and box, the most important first.
    """
    items = [(" ".join(label.split()), box) for label, box in items]
    items = [(label, box) for label, box in items if label not in _UNSEEN]
    count = Counter(label for label, _ in items)
    labels = [label if n == 1 else f"{n} {label}s" for label, n in list(count.items())[:MOST_LABELS]]
    relations = _relations(items)
    return ", ".join(labels) + ("; " + ", ".join(relations) if relations else "")


def _relations(items: Sequence[tuple[str, ImageBox]]) -> list[str]:
    """Return "a on b" for boxes whose lower edge is in another, then "a next to b", nearest first."""
    found: dict[str, None] = {}
    beside: list[tuple[float, str]] = []
    for i, (label, box) in enumerate(items):
        for j, (other, base) in enumerate(items):
            if i == j or label == other:
                continue
            if _stands_on(box, base):
                found[f"{label} on {other}"] = None
            elif i < j:
                gap = _gap(box, base)
                if gap <= 0.5 * max(box.width, base.width):
                    beside.append((gap, f"{label} next to {other}"))
    for _, text in sorted(beside, key=lambda pair: pair[0]):
        found.setdefault(text)
    return list(found)[:MOST_RELATIONS]


def _stands_on(box: ImageBox, base: ImageBox) -> bool:
    """Return whether a smaller box ends in the upper two thirds of the base and begins above it."""
    middle, foot = box.x + box.width / 2, box.y + box.height
    over = base.x <= middle <= base.x + base.width and box.width * box.height < base.width * base.height
    return over and base.y < foot <= base.y + 0.67 * base.height and box.y < base.y


def _gap(box: ImageBox, other: ImageBox) -> float:
    """Return the distance between two boxes, pixels; 0 if they overlap."""
    across = max(other.x - box.x - box.width, box.x - other.x - other.width, 0)
    down = max(other.y - box.y - box.height, box.y - other.y - other.height, 0)
    return float((across**2 + down**2) ** 0.5)
