"""Where models are unsure, and what that is worth: measures what the README here tells, draws its pictures and writes it.

    MPNP_DATA=… python -m studies.uncertainty                   an hour on one core; what is measured is not measured again
    MPNP_DATA=… python -m studies.uncertainty ppisp-ampnp …     of asking no other lines than these

Takes the models that 'mpnp reproduce --out results' has left in results/runs; what was not trained is left out.
"""

import sys
from collections.abc import Sequence

import torch

from . import abroad, asking, confidence, edges_of_parts
from .kept import HERE

INTRODUCTION = """# Where models are unsure

Written by `python -m studies.uncertainty`, which also draws the pictures, from models as `mpnp reproduce` leaves them in `results/runs`; seed 0,
one thread. Of borders and shift: one draw of the context per rate, 32 latent samples, drawn anew for each graph. Machine, date and training of
each model are in the JSON files here.
"""


def main(names: Sequence[str] = ()) -> None:
    torch.set_num_threads(1)
    parts = [INTRODUCTION, asking.section(names), confidence.section(), edges_of_parts.section()]
    parts += [abroad.section(kind) for kind in abroad.JOURNEYS]
    (HERE / "README.md").write_text("\n".join(part for part in parts if part))


if __name__ == "__main__":
    main(sys.argv[1:])
