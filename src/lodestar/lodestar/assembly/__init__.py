"""Puts the robot together from one tree of configuration: nodes ask for their part, the headless robot for all."""
