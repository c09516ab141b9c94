"""The steps of `make setup`. Standard library only: they run before anything is installed."""
