"""Missions: a file of steps, when they are done, and a journal from which they go on after a crash."""
