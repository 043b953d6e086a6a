"""Programs that try to break mpnp and count: malformed inputs (``fuzz``), kills, full disks and races (``chaos``)."""
