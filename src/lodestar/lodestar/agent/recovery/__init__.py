"""Diagnosis of failed actions, and recoveries."""
