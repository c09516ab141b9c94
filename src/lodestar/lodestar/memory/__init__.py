"""What the robot remembers: segments with captions, primitives and keyframes (STaR IV-A), and snapshots (SnapMem 3)."""
