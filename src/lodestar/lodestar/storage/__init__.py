"""Atomic file writes, archives, journals, and folders of snapshots."""
