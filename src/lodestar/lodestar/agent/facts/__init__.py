"""The newest facts, the clock they are known by, and the loop's configuration."""
