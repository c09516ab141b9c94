"""Studies, one per file; each module has a `BENCHMARK`."""
