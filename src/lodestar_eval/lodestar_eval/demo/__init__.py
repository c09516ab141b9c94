"""`python -m lodestar_eval.demo`: one directive in one building, over the real nodes, with a report."""
