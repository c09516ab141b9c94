"""The two nodes of the simulator."""
