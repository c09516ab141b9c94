"""`python -m lodestar_ros.doctor`: what is wrong with a running stack, in plain words."""
