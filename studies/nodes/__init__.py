"""``universal`` against its rivals on the graphs ``node/*``."""
