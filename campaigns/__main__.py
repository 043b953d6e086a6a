"""``python -m campaigns fuzz``, ``chaos``, ``size``, ``dependencies`` and ``page``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name == "fuzz":
        from .fuzz import main
    elif name == "chaos":
        from .chaos import main
    elif name == "size":
        from .size import main
    elif name == "dependencies":
        from .dependencies import main
    elif name == "page":
        from .page import main
    else:
        sys.exit("python -m campaigns fuzz | chaos | size | dependencies | page; --help after it tells more.")
    main(sys.argv[2:])
