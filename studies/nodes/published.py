"""Accuracy of other in-context models in %, as published; not run here.

GraphAny: its published weights on the same splits. NodePFN: figures of a public rerun, whose splits may differ.
"""

PUBLISHED: dict[str, dict[str, float]] = {
    "GraphAny": {
        "cora": 79.4,
        "citeseer": 68.4,
        "cora_ml": 80.2,
        "acm": 83.9,
        "photo": 91.0,
        "coauthor_cs": 89.2,
        "dblp": 68.5,
        "blogcatalog": 73.9,
        "wisconsin": 63.5,
        "texas": 67.0,
        "actor": 29.2,
        "minesweeper": 80.3,
        "air_usa": 44.4,
    },
    "NodePFN": {
        "cora": 80.9,
        "citeseer": 68.1,
        "photo": 88.3,
        "coauthor_cs": 90.3,
        "wisconsin": 79.2,
        "texas": 77.6,
        "actor": 35.6,
        "air_usa": 56.5,
    },
}
