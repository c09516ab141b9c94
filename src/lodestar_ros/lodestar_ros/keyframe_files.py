"""Files of keyframes in a private folder that lasts for a run of the stack."""

from __future__ import annotations

import uuid
from pathlib import Path

from lodestar.assembly.config import KeyframesConfig
from lodestar.keyframes.remembered import RememberedImages
from lodestar.keyframes.store import KeyframePart, KeyframeStore
from lodestar.storage.archive import ArchiveError
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.private import UnsafeFolder
from lodestar.storage.run_folder import RunFolder
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import PartServer
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError


class KeyframeFiles:
    """Opens the keyframe store and serves its ``~/save`` and ``~/load``.

    The images are in the folder of the checkpoints, or else in a private folder of this run of the stack.
    Images of memories are linked into `config.remembered_folder`. The store's own files are its checkpoint. Raises
    ParameterError for a folder that is not private.
    """

    def __init__(self, node: LodestarNode, config: KeyframesConfig, checkpoints: CheckpointConfig) -> None:
        checkpointer = Checkpointer(node, checkpoints)
        session = str(checkpointer.notes.get("session", "") or uuid.uuid4().hex[:12])
        checkpointer.note(session=session)
        if checkpoints.folder:
            folder = str(Path(checkpoints.folder) / "images")
        else:
            run = RunFolder()
            node.on_close(run.close)
            folder = str(run.path / "images")
        try:
            remembered = RememberedImages(config.remembered_folder)
            self.store = node.timed(
                KeyframeStore(folder, config.store, node.shared.map_id, session, remembered)
            )
        except (UnsafeFolder, ArchiveError, OSError) as error:
            raise ParameterError(f"folder: {error}") from error
        checkpointer.say_back(f"with its {len(self.store)} images", restored=True)
        for problem in self.store.damaged:
            node.get_logger().warning(problem)
        PartServer(node, KeyframePart(self.store), lambda: len(self.store))
