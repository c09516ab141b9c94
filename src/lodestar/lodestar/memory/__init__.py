"""Memory of the robot: captioned time segments with objects and images (STaR IV-A), snapshots (SnapMem 3)."""
