"""Measuring: how good and how honest a predictor is."""
