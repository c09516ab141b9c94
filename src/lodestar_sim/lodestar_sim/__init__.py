"""The embedded simulator: furnished worlds, sensors, a robot, and their nodes."""
