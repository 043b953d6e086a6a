"""A user's own graphs, read from files and containers. One module per format; docs/your-graphs.md has every rule.

Sources with named columns (CSV, Parquet, pandas, GraphML, GEXF, JSON, NetworkX) become two tables and go through
:mod:`.tables`; sources of arrays (PyG, NumPy, SciPy) go through :mod:`.arrays`. :mod:`.files` tells formats apart,
:mod:`.containers` everything else.
"""

from .containers import as_graphs
from .own_graphs import Choices, OwnGraphs
from .tud import read_tud

__all__ = ["Choices", "OwnGraphs", "as_graphs", "read_tud"]
