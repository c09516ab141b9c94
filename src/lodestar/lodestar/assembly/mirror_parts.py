"""Makes the copy of the scene that its readers keep.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.scene.mirror import SceneMirror


def scene_mirror() -> SceneMirror:
    """A copy of the entities that follows their deltas, for those who read them."""
    return SceneMirror()
