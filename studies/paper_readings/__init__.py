"""Readings of what the paper leaves open, trained and compared: ``python -m studies.paper_readings``."""
