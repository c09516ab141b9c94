"""Work under way: the directive, its errand, its action, and the context of the loop."""
