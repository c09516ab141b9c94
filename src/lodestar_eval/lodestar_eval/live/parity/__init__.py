"""Comparison of the running nodes with the headless robot on the same sensor messages."""
