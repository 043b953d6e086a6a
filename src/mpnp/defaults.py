"""Numbers that many rooms share; light to import, so that the command line can name them without loading torch."""

from __future__ import annotations

SAMPLES = 16  # of the latent variable, in every prediction
DRAWS = 3  # of the context, in every score
