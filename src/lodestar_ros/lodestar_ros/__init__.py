"""The nodes of Lodestar: thin shells around the core, conversions, QoS and parameters."""
