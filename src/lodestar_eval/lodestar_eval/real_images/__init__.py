"""Evaluation of the robot's pipeline on recorded real images, against objects labelled by a person."""
