"""Construction of the robot's parts from one configuration, for single nodes and for the headless robot."""
