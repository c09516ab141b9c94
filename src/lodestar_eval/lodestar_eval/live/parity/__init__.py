"""Compares what the running nodes make of a run with what the headless robot makes of the same sensor messages."""
