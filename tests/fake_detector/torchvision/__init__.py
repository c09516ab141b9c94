"""Stand-in for torchvision, which only has to be there."""
