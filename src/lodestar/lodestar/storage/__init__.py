"""Atomic file writes and folders of snapshots."""
