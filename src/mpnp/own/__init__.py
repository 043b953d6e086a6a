"""A user's own graphs: predictions for them."""
