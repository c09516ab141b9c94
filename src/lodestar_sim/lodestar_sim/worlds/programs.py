"""What belongs into a room of which kind, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Put:
    """Place a `name`. how: wall, corner, centre, free, mount, before, beside, around, on. of: earlier key it refers to.

    key: the name under which later entries refer to it, its category by default. count: (least, most).
    """

    name: str
    how: str
    of: str = ""
    count: tuple[int, int] = (1, 1)
    chance: float = 1.0
    word: str | None = None
    key: str = ""


PROGRAMS: dict[str, tuple[Put, ...]] = {
    "living room": (
        Put("sofa", "wall"),
        Put("coffee table", "before", "sofa"),
        Put("bookshelf", "wall"),
        Put("armchair", "wall", chance=0.8),
        Put("table", "centre", chance=0.7),
        Put("chair", "around", "table", count=(2, 4)),
        Put("cabinet", "wall", chance=0.7),
    ),
    "kitchen": (
        Put("kitchen counter", "wall"),
        Put("kitchen counter", "wall", chance=0.7),
        Put("table", "centre"),
        Put("chair", "around", "table", count=(2, 3)),
        Put("stool", "free", chance=0.5),
    ),
    "bedroom": (
        Put("bed", "wall"),
        Put("nightstand", "beside", "bed", count=(1, 2)),
        Put("wardrobe", "wall"),
        Put("dresser", "wall", chance=0.6),
        Put("desk", "wall", chance=0.5),
        Put("chair", "before", "desk"),
    ),
    "bathroom": (Put("cabinet", "wall"), Put("stool", "free", chance=0.6)),
    "study": (
        Put("desk", "wall"),
        Put("chair", "before", "desk", word="office"),
        Put("bookshelf", "wall", count=(1, 2)),
        Put("armchair", "corner", chance=0.5),
    ),
    "hall": (Put("bench", "wall", chance=0.6), Put("cabinet", "wall", chance=0.4)),
    "laundry room": (Put("cabinet", "wall", count=(1, 2)),),
}
