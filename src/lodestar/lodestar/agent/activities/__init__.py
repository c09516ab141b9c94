"""Activities: a class per kind of errand (the task in progress), `Steps`, which ends steps, and the
transitions of the loop.
"""
