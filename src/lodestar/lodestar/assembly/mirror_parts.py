"""Makes the copy of the scene that its readers keep.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.scene.mirror import SceneMirror


def scene_mirror(archived: bool = True) -> SceneMirror:
    """Return a copy of the scene that follows its deltas, for a process that only reads it.

    archived: keep archived entities too.
    """
    return SceneMirror(archived)
