"""A map of yesterday and one of today, for tests of what changed between them."""

from __future__ import annotations

from scene_builders import Feed, instance

from lodestar.assembly import scene_parts
from lodestar.mapping.records import Absence
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import KIND, VERSION, scene_from_arrays, scene_to_arrays
from lodestar.scene.scene_part import SCENE, scene_arrays
from lodestar.storage.archive import write_archive
from lodestar.storage.snapshot import SnapshotFolder

DAY = 86_400.0
THINGS = {1: ("mug", (1.0, 1.0, 0.9)), 2: ("laptop", (3.0, 1.0, 0.9)), 3: ("sofa", (5.0, 4.0, 0.4)),
          4: ("book", (2.0, 3.0, 0.9)), 5: ("person", (4.0, 2.0, 0.9)), 6: ("vase", (6.0, 1.0, 0.9))}  # fmt: skip


def thing(identity, place=None, count=5, stamp=1.0, label=None):
    name, where = THINGS.get(identity, (label, place))
    name = label or name
    return instance(
        identity, place or where, name, name, stamp, size=0.2, observation_count=count,
    )  # fmt: skip


def yesterday():
    scene, feed = SceneDictionary(map_id=3), Feed()
    scene.update(feed(updated=tuple(thing(i) for i in THINGS), map_id=3, session_id="abc"))
    return scene


def save(scene, folder, saved=1_000_000.0):
    target = SnapshotFolder(folder)
    part = target.begin()
    meta, arrays = scene_arrays(scene, scene_parts.region_tracker())
    write_archive(part / SCENE, KIND, VERSION, meta, arrays)
    target.commit(part, {"map_id": meta["map_id"], "entities": meta["entities"], "saved": saved})
    return folder


def loaded(scene):
    """A scene that goes on with another one's saved map, and its feed."""
    meta, arrays = scene_to_arrays(scene)
    other, feed = SceneDictionary(), Feed()
    other.replace(scene_from_arrays(meta, arrays, other.config, 0.0), 3, "abc", "")
    news = lambda **changes: other.update(feed(map_id=3, session_id="abc+", **changes))  # noqa: E731
    return other, news


def today():
    """The mug stands elsewhere under a new id, the laptop is gone, sofa and book are seen again, the vase is not."""
    scene, news = loaded(yesterday())
    news(updated=(thing(3, count=9, stamp=5.0), thing(4, count=8, stamp=5.0)))
    news(updated=(thing(20, (4.0, 4.0, 0.9), label="mug", stamp=6.0),))
    for _ in range(3):
        news(absences=(Absence(2, 7.0, 1.0), Absence(1, 7.0, 1.0)))
    return scene
