"""Blocks of voxels, their submaps, the signed distance field, the voxels' instances and meshes."""
