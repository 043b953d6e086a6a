"""Learning: what is asked of a model (objectives), from what (stream), how long (recipes), and the loop that does it."""
