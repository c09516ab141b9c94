"""OctoMap, projected grid, semantic voxels, instances and pillars."""
