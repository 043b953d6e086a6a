"""``nodes.csv`` and ``edges.csv``."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs, csv_files
from mpnp.tasks.formats.csv_files import read_table

from .sources import EDGES_CSV, NODES_CSV, as_csv, fails, write_csv


def test_several_graphs_and_capital_headers(tmp_path: Path) -> None:
    nodes = "\ufeffGraph,Size,ID,Label\ng2,1,u,10\ng1,2,v,9\n\ng2,3,w,\n"
    own = as_graphs(write_csv(tmp_path, nodes, "weight,Target,Source\n5,w,u\n") / "nodes.csv")
    assert own.node_names == [["u", "w"], ["v"]] and own.feature_names == ["Size"]
    assert own.graphs[0].edge_index.tolist() == [[0, 1], [1, 0]] and own.graphs[1].edge_index.shape == (2, 0)
    assert own.graphs[0].edge_weight.tolist() == [5, 5] and own.graphs[1].edge_weight.tolist() == []
    assert [graph.y.tolist() for graph in own.graphs] == [[1, -1], [0]] and own.class_names == ["9", "10"]


def test_without_features_or_named_columns(tmp_path: Path) -> None:
    own = as_graphs(write_csv(tmp_path, "name\na\nb\n", "from,to\na,b\n"))
    assert torch.equal(own.graphs[0].x, torch.ones(2, 1)) and own.graphs[0].edge_index.tolist() == [[0, 1], [1, 0]]
    assert own.feature_names == ["constant"]
    assert own.notes == [
        "There are no features; every node has the constant 1.",
        "There is no column of labels (label, class or target, unless you name another); all nodes are unlabelled.",
    ]


def test_every_kind_of_column(tmp_path: Path) -> None:
    nodes = (
        "id,class,age,colour,member,url,unit\n"
        "a,x,1,red,true,u1,kg\n"
        "b,?,,blue,False,u2,kg\n"
        "c,NA,4,,TRUE,u3,kg\n"
        "d,y,7,red,true,u4,kg\n"
    )
    own = as_graphs(write_csv(tmp_path, nodes))
    assert own.feature_names == ["age", "age missing", "colour=blue", "colour=red", "colour missing", "member"]
    assert own.feature_kinds == ["number", "missing", "category", "category", "missing", "truth"]
    assert own.graphs[0].x.tolist() == [[1, 0, 0, 1, 0, 1], [4, 1, 1, 0, 0, 0], [4, 0, 0, 0, 1, 1], [7, 0, 0, 1, 0, 1]]
    assert own.class_names == ["x", "y"] and own.graphs[0].y.tolist() == [0, -1, -1, 1]
    assert own.notes == [
        "Column 'age': 1 of 4 values are missing; the median 4 stands in, and 'age missing' is 1 there.",
        "Column 'colour' holds 2 categories, a feature each; 1 of 4 values are missing, and 'colour missing' is 1 there.",
        "Column 'url' has another text for every node, as names have, and is ignored.",
        "Column 'unit' has the same text everywhere and is ignored.",
        "Column 'class' holds the labels.",
        "1 label '?' was read as unknown.",
        "1 label 'NA' was read as unknown.",
    ]


def test_the_features_of_a_trained_model_are_made_again(tmp_path: Path) -> None:
    """Categories and gaps need not occur in every file; those that a model has not seen are said."""
    known = as_graphs(write_csv(tmp_path, "id,age,colour\na,1,red\nb,,blue\nc,4,red\nd,7,red\n")).feature_names
    own = as_graphs(write_csv(tmp_path, "id,colour,age\na,green,5\nb,red,6\nc,red,7\nd,red,8\n"), feature_names=known)
    assert own.feature_names == known == ["age", "age missing", "colour=blue", "colour=red"]
    assert own.graphs[0].x.tolist() == [[5, 0, 0, 0], [6, 0, 0, 1], [7, 0, 0, 1], [8, 0, 0, 1]]
    assert own.notes[0] == "Column 'colour': the model was trained without 'green'."
    prose = "id,age,colour,text\n" + "".join(f"n{i},1,{i},{i // 2}t\n" for i in range(300))
    own = as_graphs(write_csv(tmp_path, prose.replace(",1,", ",1,c"), "source,target\n"), feature_names=known)
    assert own.graphs[0].x[0].tolist() == [1, 0, 0, 0]
    assert "Column 'colour': the model was trained without 'c0' and others." in own.notes
    assert "Column 'text' is ignored: the model was trained without it." in own.notes
    with pytest.raises(UserError, match="'colour=blue', which the model was trained with, is not there"):
        as_graphs(write_csv(tmp_path, "id,colour,age\na,1,5\nb,2,6\nc,3,7\nd,4,8\n"), feature_names=known)


def test_label_column_and_ignored_columns(tmp_path: Path) -> None:
    nodes = "id,label,team,size\na,1,x,1\nb,2,y,2\nc,3,y,3\nd,3,x,4\n"
    own = as_graphs(write_csv(tmp_path, nodes), label_column="Team", ignore=["label"])
    assert own.class_names == ["x", "y"] and own.feature_names == ["size"]
    assert own.notes == ["Column 'label' is ignored as asked.", "Column 'team' holds the labels."]
    with pytest.raises(UserError, match="no column 'sort' of labels; the columns are id, label, team, size"):
        as_graphs(tmp_path, label_column="sort")


def test_directed_edges_with_weights_and_types(tmp_path: Path) -> None:
    edges = "source,target,weight,type,since\na,b,2,likes,1\nb,a,3,knows,2\na,b,0.5,likes,3\nb,c,1,knows,4\n"
    own = as_graphs(write_csv(tmp_path, NODES_CSV, edges), directed=True)
    graph = own.graphs[0]
    assert graph.edge_index.tolist() == [[0, 1, 1], [1, 0, 2]] and graph.edge_weight.tolist() == [2.5, 3, 1]
    assert graph.edge_type.tolist() == [1, 0, 0] and own.edge_type_names == ["knows", "likes"] and own.directed
    assert own.notes == [
        "Ignored of the edges: since; 'weight' and 'type' are read.",
        "1 repeated edge was merged, their weights added up.",
    ]
    both = as_graphs(tmp_path).graphs[0]
    assert both.edge_index.tolist() == [[0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 2, 1]]
    assert both.edge_weight.tolist() == [3, 2.5, 3, 2.5, 1, 1] and both.edge_type.tolist() == [0, 1, 0, 1, 0, 0]


def test_an_edge_listed_in_both_directions_weighs_what_it_says(tmp_path: Path) -> None:
    pairs = as_graphs(write_csv(tmp_path, NODES_CSV, "source,target,weight\na,b,2\nb,a,2\nc,c,1\n")).graphs[0]
    once = as_graphs(write_csv(tmp_path, NODES_CSV, "source,target,weight\na,b,2\nc,c,1\n")).graphs[0]
    assert pairs.edge_index.tolist() == once.edge_index.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert pairs.edge_weight.tolist() == once.edge_weight.tolist() == [2, 2, 1]


def test_too_many_labels_or_categories_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"n{i},{i},t{i // 2}\n" for i in range(30_000))
    fails(
        write_csv(tmp_path, f"id,label,size\n{rows.replace(',t', ',')}", "source,target\n"), "30,000 different labels"
    )
    fails(
        write_csv(tmp_path, f"id,size,text\n{rows}", "source,target\n"),
        "'text'",
        "15,000 different texts",
        "at most 100",
    )


@pytest.mark.parametrize(
    ("nodes", "edges", "parts"),
    [
        ("\n\n", EDGES_CSV, ("nodes.csv", "empty")),
        ("id,p\n", EDGES_CSV, ("no nodes",)),
        ("id,p\na,1\na,2\n", EDGES_CSV, ("line 3", "'a'")),
        ("id,p\na,1\n,2\n", EDGES_CSV, ("line 3", "no name")),
        ("id,p\na,1\nb\n", EDGES_CSV, ("line 3", "1 cells")),
        ("id,p,q\na,1,2\nb,1,tall\n", EDGES_CSV, ("line 3", "'q'", "'tall'")),
        ("id,p\na,1\nb,1_0\n", EDGES_CSV, ("line 3", "'p'", "'1_0'")),
        ("id,p\na,-inf\n", EDGES_CSV, ("line 2", "'-inf'", "finite")),
        ("id,p\na,1e39\n", EDGES_CSV, ("line 2", "'1e39'")),
        ("id,p\na,2020-01-31\nb,2020-02-01\n", EDGES_CSV, ("line 2", "'p'", "is a date")),
        ("id,p\na,2020-01-31 10:00\nb,2020-02-01\n", EDGES_CSV, ("is a date",)),
        ("id,p\na,31.1.2020\nb,1/2/21\n", EDGES_CSV, ("is a date",)),
        ("id,p,P\na,1,2\n", EDGES_CSV, ("two columns", "'p'")),
        ("id,p,p missing\na,1,2\nb,,3\nc,1,4\n", EDGES_CSV, ("two features", "'p missing'")),
        ("label,p\na,1\n", EDGES_CSV, ("'id'",)),
        ("id;p\na;1,5\n", EDGES_CSV, ("commas",)),
        ("0,1.5\n1,2.5\n", EDGES_CSV, ("header",)),
        ("id,label\na,0.5\nb,1\n", EDGES_CSV, ("'0.5'", "fraction")),
        ("id,graph\na,1\nb,\n", EDGES_CSV, ("line 3", "graph")),
        ('id,p\n"a,1\n', EDGES_CSV, ("nodes.csv", "not a table")),
        ('id,p\na,1\nb,"very\ntall"\n', EDGES_CSV, ("line 4", "'very tall'")),
        (NODES_CSV, "", ("edges.csv", "empty")),
        (NODES_CSV, "source,target\na,z\n", ("edges.csv", "line 2", "'z' is not in nodes.csv")),
        (NODES_CSV, "source,target\na,b,c\n", ("edges.csv", "line 2", "3 cells")),
        (NODES_CSV, "source\na\n", ("edges.csv", "source,target")),
        (NODES_CSV, "a,b\nb,c\n", ("edges.csv", "header")),
        (NODES_CSV, "source,target,weight\na,b,-1\n", ("edges.csv", "line 2", "'-1'", "not negative")),
        (NODES_CSV, "source,target,weight\na,b,\n", ("edges.csv", "line 2", "weight ''")),
        (NODES_CSV, "source,target,weight\na,b,inf\n", ("'inf'", "finite")),
        (NODES_CSV, "source,target,type\na,b,\n", ("edges.csv", "line 2", "no type")),
        ("id,graph\na,1\nb,2\n", "source,target\na,b\n", ("'a'", "'b'", "two graphs")),
    ],
)
def test_bad_files(tmp_path: Path, nodes: str, edges: str, parts: tuple[str, ...]) -> None:
    fails(write_csv(tmp_path, nodes, edges), *parts)


def test_files_that_are_missing_or_not_text(tmp_path: Path) -> None:
    path = as_csv(tmp_path)
    (path / "edges.csv").unlink()
    fails(path, "edges.csv", "missing")
    (path / "nodes.csv").write_bytes(b"id,p\n\xff\xfe,1\n")
    fails(path, "UTF-8")


@pytest.mark.parametrize(
    "text",
    [
        "id,label\na,x\nb,\n",
        "id,label\r\na,x\r\nb, y \r\n",
        "\ufeffid,label\n 'a',x\n'=b,'-y\n",
        "\nid,label\n\na,x\n,\nb,y",
        'id,label\n"a,1",x\n',
        "id,label\na,\n\u00a0b,x\n",
        "id\na\n\nb\n",
    ],
)
def test_blocks_and_rows_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Whole blocks of a plain file are read at once, others row by row; no one can tell."""
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    monkeypatch.setattr(csv_files, "BLOCK", 8)
    quick = read_table(tmp_path / "t.csv")
    monkeypatch.setattr(csv_files, "_plain_columns", lambda *_: None)
    slow = read_table(tmp_path / "t.csv")
    assert quick.columns == slow.columns
