"""Where models are unsure, and what that is worth."""
