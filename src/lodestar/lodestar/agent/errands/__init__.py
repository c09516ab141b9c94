"""State of the work in progress: the directive, its current errand (the task in progress), its action, and
the context of the loop.
"""
