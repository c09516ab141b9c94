"""Selection and storage of keyframes."""
