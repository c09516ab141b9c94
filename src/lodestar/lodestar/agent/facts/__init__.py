"""The newest facts, the loop's clock, and the loop's configuration."""
