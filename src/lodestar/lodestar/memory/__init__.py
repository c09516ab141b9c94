"""Memory of the robot: segments with captions, primitives and keyframes (STaR IV-A), and snapshots (SnapMem 3)."""
