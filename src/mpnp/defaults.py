"""Choices that many rooms share; light to import, so that the command line can name them without loading torch."""

from __future__ import annotations

SAMPLES = 16  # of the latent variable, in every prediction
MANY_SAMPLES = 32  # where uncertainty itself is measured: of K samples the epistemic part cannot exceed log K
DRAWS = 3  # of the context, in every score
MODEL = "ampnp"  # that is trained where none is named
READY = "universal"  # that answers where none is named, without training
COVERAGE = 0.9  # of sets of labels
STRATEGY = "auto"  # by which the next node to label is chosen

# The version of the figures: part of every stored result's identity. Raised, apart from the package's version, by a
# change that changes what the same seeds give; results of another version are not taken.
FIGURES = "0.1.0"
