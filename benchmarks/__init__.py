"""Speed, measured against the usual ways of doing the same, in one process and one run."""
