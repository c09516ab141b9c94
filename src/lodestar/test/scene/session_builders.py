"""Maps of two sessions, yesterday and today, for tests of their changes."""

from __future__ import annotations

from scene_builders import Feed, instance

from lodestar.mapping.instances.records import Absence
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import scene_from_archive, scene_part, scene_to_archive
from lodestar.storage.saved_map import save_map
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
    save_map(
        SnapshotFolder(folder), [scene_part(scene, lambda: 0.0, lambda saved: lambda: None)], {"saved": saved}
    )
    return folder


def loaded(scene):
    """Return a scene that continues another one's saved map, and its feed."""
    archive = scene_to_archive(scene)
    other, feed = SceneDictionary(), Feed()
    other.replace(scene_from_archive(archive, other.config, 0.0).state, 3, "abc")
    other.flush()
    news = lambda **changes: other.update(feed(map_id=3, session_id="abc+", **changes))  # noqa: E731
    return other, news


def today():
    """Return today's scene: the mug elsewhere under a new id, the laptop gone, sofa and book seen, the vase not."""
    scene, news = loaded(yesterday())
    news(updated=(thing(3, count=9, stamp=5.0), thing(4, count=8, stamp=5.0)))
    news(updated=(thing(20, (4.0, 4.0, 0.9), label="mug", stamp=6.0),))
    for _ in range(3):
        news(absences=(Absence(2, 7.0, 1.0), Absence(1, 7.0, 1.0)))
    return scene
