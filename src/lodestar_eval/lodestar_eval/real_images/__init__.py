"""A recording of real images through the robot's own chain, against things that a person labelled."""
