"""Select and store keyframes."""
