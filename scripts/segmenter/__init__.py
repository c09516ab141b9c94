"""Training of the network that finds things in the simulator's images. Needs torch; see train_segmenter.py."""
