"""One module per benchmark; each defines `BENCHMARK`, and importing it is cheap."""
