"""Makes the selection and the store of keyframes.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from pathlib import Path

from lodestar.assembly.config import KeyframesConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.keyframes.image_picker import ImagePicker
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.store import KeyframeStore


def keyframe_store(
    config: KeyframesConfig,
    shared: SharedConfig,
    folder: str | Path,
    session_id: str = "",
    remembered: RememberedImages | None = None,
) -> KeyframeStore:
    """Return the store of keyframes in a folder. Raises OSError."""
    return KeyframeStore(folder, config.store, shared.map_id, session_id, remembered)


def remembered_images(config: KeyframesConfig) -> RememberedImages:
    """Return the images that outlive the run, in the configured folder. Raises UnsafeFolder, OSError."""
    return RememberedImages(config.remembered_folder)


def image_picker(config: KeyframesConfig) -> ImagePicker:
    """Return the picker that offers images to the store."""
    return ImagePicker(config.offer)
