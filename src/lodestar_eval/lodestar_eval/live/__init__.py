"""Environments of running nodes, for benchmarks over DDS."""
