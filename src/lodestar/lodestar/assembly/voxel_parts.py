"""Makes the semantic voxel map.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.mapping.semantic_voxels import SemanticVoxelMap

# The defaults, for those who measure a part by itself.
_SHARED, _FUSING = SharedConfig(), SemanticVoxelsConfig()


def voxel_map(
    config: SemanticVoxelsConfig = _FUSING,
    shared: SharedConfig = _SHARED,
    session_id: str = "",
) -> SemanticVoxelMap:
    """Return an empty semantic voxel map, which fuses segments into instances."""
    return SemanticVoxelMap(config.voxels, shared.map_id, session_id)
