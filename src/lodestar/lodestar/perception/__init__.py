"""From images to segmented frames."""
