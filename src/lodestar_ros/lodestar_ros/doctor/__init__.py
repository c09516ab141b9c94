"""`python -m lodestar_ros.doctor`: report the faults of a running stack in plain words."""
