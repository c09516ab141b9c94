"""Missions: files of steps with times, and a journal from which a mission resumes after a crash."""
