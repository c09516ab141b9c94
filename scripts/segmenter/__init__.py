"""Training of the network that segments objects in the simulator's images. Needs torch; see train_segmenter.py."""
