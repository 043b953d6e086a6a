"""What the paper published, to be held against what this library measures."""
