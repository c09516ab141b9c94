"""Episodes, benchmarks, metrics and the demo of Lodestar."""
