"""The prior: made-up graphs on which a model learns to answer for any graph."""
