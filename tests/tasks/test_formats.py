"""A user's own graphs: four formats, and every error in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.tasks.own import load_graphs

# One graph, 4 nodes: a path a - b - c with a self-loop at c, and d alone; d is unlabelled.
X = torch.tensor([[0.5, 1.0], [-2.0, 0.0], [3.25, 4.0], [0.0, 1e-3]])
EDGES = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])
Y = torch.tensor([1, 0, 1, -1])
NODES_CSV = "id,p,label,q\na,0.5,7,1\nb,-2,3,0\nc,3.25,7,4\nd,0,,1e-3\n"
EDGES_CSV = "source,target\na,b\nc,b\nb,c\nc,c\n"


def as_pt(folder: Path) -> Path:
    torch.save([Data(x=X, edge_index=EDGES, y=Y)], folder / "g.pt")
    return folder / "g.pt"


def as_tud(folder: Path) -> Path:
    return write(
        folder,
        T_A="1, 2\n2, 1\n3, 2\n2, 3\n3, 3\n",
        T_graph_indicator="1\n1\n1\n1\n",
        T_node_labels="7\n3\n7\n\n",
        T_node_attributes="0.5, 1\n-2, 0\n3.25, 4\n0, 0.001\n",
    )


def as_graphml(folder: Path) -> Path:
    graph = nx.Graph()
    for i, name in enumerate("abcd"):
        label = {} if Y[i] < 0 else {"label": (3, 7)[int(Y[i])]}
        graph.add_node(name, p=float(X[i, 0]), note="text", q=[1.0, 0.0, 4.0, 1e-3][i], **label)
    graph.add_edges_from([("a", "b"), ("b", "c"), ("c", "c")])
    nx.write_graphml(graph, folder / "g.graphml")
    return folder / "g.graphml"


def as_csv(folder: Path) -> Path:
    return write_csv(folder, NODES_CSV, EDGES_CSV)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def write_csv(folder: Path, nodes: str, edges: str = EDGES_CSV) -> Path:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder


def save(folder: Path, content: Any) -> Path:
    torch.save(content, folder / "g.pt")
    return folder / "g.pt"


def fails(path: Path, *parts: str) -> None:
    with pytest.raises(UserError) as error:
        load_graphs(path)
    for part in (*parts, str(path) if path.is_file() else path.name):
        assert part in str(error.value)
    assert "\n" not in str(error.value)


# --- Formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [as_pt, as_tud, as_graphml, as_csv])
def test_the_same_graph_in_every_format(tmp_path: Path, form: Callable[[Path], Path]) -> None:
    own = load_graphs(form(tmp_path))
    (graph,) = own.graphs
    assert graph.x.dtype == torch.float32 and graph.edge_index.dtype == graph.y.dtype == torch.long
    assert torch.equal(graph.x, X) and torch.equal(graph.edge_index, EDGES) and torch.equal(graph.y, Y)
    assert own.class_names == (["0", "1"] if form is as_pt else ["3", "7"])
    numbered = {as_pt: ["0", "1", "2", "3"], as_tud: ["1", "2", "3", "4"]}
    assert own.node_names == [numbered.get(form, ["a", "b", "c", "d"])]
    assert own.feature_names == (["p", "q"] if form in (as_graphml, as_csv) else ["0", "1"])


def test_pt_holds_one_data_a_dict_or_lists(tmp_path: Path) -> None:
    data = Data(x=X.double(), edge_index=EdgeIndex(EDGES, sparse_size=(4, 4)), y=Y.to(torch.int8))
    data.get_all_tensor_attrs()  # fills a cache that is saved with the rest
    for content in (data, {"x": X, "edge_index": EDGES, "y": Y}, [data, {"x": X, "edge_index": EDGES}], (data,)):
        own = load_graphs(save(tmp_path, content))
        assert torch.equal(own.graphs[0].x, X) and torch.equal(own.graphs[0].y, Y)
        assert type(own.graphs[0].edge_index) is torch.Tensor
    assert load_graphs(save(tmp_path, Data(x=X, edge_index=EDGES))).graphs[0].y.tolist() == [-1] * 4
    assert torch.equal(load_graphs(save(tmp_path, Data(edge_index=EDGES, y=Y))).graphs[0].x, torch.ones(4, 1))


def test_reading_pt_leaves_the_safe_globals_as_they_were(tmp_path: Path) -> None:
    before = set(torch.serialization.get_safe_globals())
    load_graphs(as_pt(tmp_path))
    (tmp_path / "g.pt").write_text("damaged")
    with pytest.raises(UserError):
        load_graphs(tmp_path / "g.pt")
    assert set(torch.serialization.get_safe_globals()) == before


def test_a_malicious_pickle_is_not_executed(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "executed"),)

    for content in (Evil(), [Data(x=X, edge_index=EDGES, y=Y, evil=Evil())], {"x": Evil()}):
        for zipped in (True, False):
            torch.save(content, tmp_path / "g.pt", _use_new_zipfile_serialization=zipped)
            fails(tmp_path / "g.pt", "mkdir")
    assert not (tmp_path / "executed").exists()


def test_tud_under_raw_with_several_graphs_out_of_order(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw", T_A="1,3\n3,1\n2,4\n2,4", T_graph_indicator="9\n4\n9\n4", T_node_labels="b\na\nb\nc\n\n")
    own = load_graphs(tmp_path)
    assert [graph.edge_index.tolist() for graph in own.graphs] == [[[0], [1]], [[0, 1], [1, 0]]]
    assert own.node_names == [["2", "4"], ["1", "3"]]
    assert [graph.y.tolist() for graph in own.graphs] == [[0, 2], [1, 1]] and own.class_names == ["a", "b", "c"]
    assert torch.equal(own.graphs[0].x, torch.ones(2, 1)) and own.feature_names == ["constant"]


def test_tud_without_labels(tmp_path: Path) -> None:
    own = load_graphs(write(tmp_path, T_A="1,2", T_graph_indicator="1\n1"))
    assert own.graphs[0].y.tolist() == [-1, -1] and own.class_names == []


def test_directed_graphml_keeps_its_direction(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("u", y="red", flag=True)
    graph.add_node("v", y="blue", flag=False)
    graph.add_edges_from([("v", "u"), ("v", "u")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    own = load_graphs(tmp_path / "g.graphml")
    assert own.graphs[0].edge_index.tolist() == [[1], [0]]
    assert own.graphs[0].x.tolist() == [[1.0], [0.0]]
    assert own.graphs[0].y.tolist() == [1, 0] and own.class_names == ["blue", "red"]


def graphml(folder: Path, body: str, keys: str = "") -> Path:
    key = '<key id="k" for="node" attr.name="size" attr.type="double"><default>2.5</default></key>'
    text = f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys or key}{body}</graphml>'
    (folder / "g.graphml").write_text(text)
    return folder / "g.graphml"


def test_graphml_defaults_are_filled_in(tmp_path: Path) -> None:
    nodes = '<node id="a"><data key="k">1</data></node><node id="b"/>'
    own = load_graphs(graphml(tmp_path, f'<graph edgedefault="undirected">{nodes}</graph>'))
    assert own.graphs[0].x.tolist() == [[1.0], [2.5]] and own.graphs[0].edge_index.shape == (2, 0)


def test_csv_with_several_graphs_and_capital_headers(tmp_path: Path) -> None:
    nodes = "\ufeffGraph,Size,ID,Label\ng2,1,u,10\ng1,2,v,9\n\ng2,3,w,\n"
    own = load_graphs(write_csv(tmp_path, nodes, "weight,Target,Source\n5,w,u\n") / "nodes.csv")
    assert own.node_names == [["u", "w"], ["v"]] and own.feature_names == ["Size"]
    assert own.graphs[0].edge_index.tolist() == [[0, 1], [1, 0]] and own.graphs[1].edge_index.shape == (2, 0)
    assert [graph.y.tolist() for graph in own.graphs] == [[1, -1], [0]] and own.class_names == ["9", "10"]


def test_csv_without_features_or_named_columns(tmp_path: Path) -> None:
    own = load_graphs(write_csv(tmp_path, "name\na\nb\n", "from,to\na,b\n"))
    assert torch.equal(own.graphs[0].x, torch.ones(2, 1)) and own.graphs[0].edge_index.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("labels", "names", "y"),
    [
        (["10", "9", ""], ["9", "10"], [1, 0, -1]),
        (["1.0", "0.0", "NaN"], ["0", "1"], [1, 0, -1]),  # what pandas makes of 1, 0 and a missing label
        (["-1", "1", "1"], ["-1", "1"], [0, 1, 1]),
        (["10", "9", "x"], ["10", "9", "x"], [0, 1, 2]),
        (["36028797018963969", "36028797018963968", ""], ["36028797018963968", "36028797018963969"], None),
    ],
)
def test_class_names(tmp_path: Path, labels: list[str], names: list[str], y: list[int] | None) -> None:
    rows = "".join(f"n{i},{label}\n" for i, label in enumerate(labels))
    own = load_graphs(write_csv(tmp_path, "id,label\n" + rows, "source,target\n"))
    assert sorted(own.class_names) == sorted(names)
    if y is not None:
        assert own.class_names == names and own.graphs[0].y.tolist() == y


def test_given_class_names_fix_the_numbering(tmp_path: Path) -> None:
    own = load_graphs(as_csv(tmp_path), class_names=["7", "5", "3"])
    assert own.class_names == ["7", "5", "3"] and own.graphs[0].y.tolist() == [0, 2, 0, -1]
    with pytest.raises(UserError, match="label '7' was given, one of 3, 5"):
        load_graphs(tmp_path, class_names=["3", "5"])
    assert load_graphs(as_pt(tmp_path), class_names=["x", "y", "z"]).class_names == ["x", "y", "z"]
    with pytest.raises(UserError, match="label 1"):
        load_graphs(as_pt(tmp_path), class_names=["x"])


# --- Errors ----------------------------------------------------------------------------------------------------------


def test_paths_that_hold_no_graphs(tmp_path: Path) -> None:
    fails(tmp_path / "nowhere", "nothing at", "nodes.csv")
    fails(tmp_path, "no graphs", "nodes.csv")
    (tmp_path / "g.xlsx").write_text("?")
    fails(tmp_path / "g.xlsx", "unknown kind", ".graphml")
    for name in ("e.pt", "e.graphml", "nodes.csv"):
        (tmp_path / name).write_text("")
        fails(tmp_path / name, "empty")
    with pytest.raises(UserError, match="Cannot read"):
        load_graphs("x" * 5000)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([], "empty list"),
        ([1], "int"),
        ("text", "str"),
        (Data(edge_index=EDGES), "no x"),
        (Data(x=X), "edge_index"),
        (Data(x=X[:0], edge_index=EDGES[:, :0]), "no nodes"),
        (Data(x=X[:, 0], edge_index=EDGES), "shape [4]"),
        (Data(x=X / 0, edge_index=EDGES), "feature 0 of node 0"),
        (Data(x=X.double() * 1e300, edge_index=EDGES), "inf"),
        (Data(x=X.to_sparse(), edge_index=EDGES), "sparse"),
        (Data(x=X.to(torch.complex64), edge_index=EDGES), "complex"),
        (Data(x=X.tolist(), edge_index=EDGES), "list"),
        (Data(x=X, edge_index=EDGES + 2), "names node 4"),
        (Data(x=X, edge_index=EDGES - 1), "names node -1"),
        (Data(x=X, edge_index=EDGES.float()), "torch.float32"),
        (Data(x=X, edge_index=EDGES, y=Y.float()), "torch.float32"),
        (Data(x=X, edge_index=EDGES, y=Y - 1), "-2"),
        (Data(x=X, edge_index=EDGES, y=Y * 20_000), "20000"),
        (Data(x=X, edge_index=EDGES, y=torch.tensor([1])), "shape [1]"),
        ([Data(x=X, edge_index=EDGES), Data(x=X[:, :1], edge_index=EDGES)], "graph 1 has 1 features"),
    ],
)
def test_bad_pt(tmp_path: Path, content: Any, part: str) -> None:
    fails(save(tmp_path, content), part)


def test_damaged_pt(tmp_path: Path) -> None:
    path = as_pt(tmp_path)
    whole = path.read_bytes()
    for content in (whole[:100], whole[: len(whole) // 2], b"hello", b"\x80\x02.", b"\x00" * 50):
        path.write_bytes(content)
        fails(path, "torch.save")
    fails(save(tmp_path, Data.__new__(Data)), "damaged")


@pytest.mark.parametrize(
    ("nodes", "edges", "parts"),
    [
        ("\n\n", EDGES_CSV, ("nodes.csv", "empty")),
        ("id,p\n", EDGES_CSV, ("no nodes",)),
        ("id,p\na,1\na,2\n", EDGES_CSV, ("line 3", "'a'")),
        ("id,p\na,1\n,2\n", EDGES_CSV, ("line 3", "no name")),
        ("id,p\na,1\nb\n", EDGES_CSV, ("line 3", "1 cells")),
        ("id,p,q\na,1,2\nb,1,tall\n", EDGES_CSV, ("line 3", "'q'", "'tall'")),
        ("id,p,q\na,,2\n", EDGES_CSV, ("line 2", "'p'", "''")),
        ("id,p\na,nan\n", EDGES_CSV, ("line 2", "'p'", "finite")),
        ("id,p\na,-inf\n", EDGES_CSV, ("line 2", "'-inf'")),
        ("id,p\na,1e39\n", EDGES_CSV, ("line 2", "'1e39'")),
        ("id,p\na,1_0\n", EDGES_CSV, ("line 2", "'1_0'")),
        ("id,p,P\na,1,2\n", EDGES_CSV, ("two columns", "'p'")),
        ("label,p\na,1\n", EDGES_CSV, ("'id'",)),
        ("id;p\na;1,5\n", EDGES_CSV, ("commas",)),
        ("0,1.5\n1,2.5\n", EDGES_CSV, ("header",)),
        ("id,label\na,0.5\nb,1\n", EDGES_CSV, ("'0.5'", "fraction")),
        ("id,graph\na,1\nb,\n", EDGES_CSV, ("line 3", "graph")),
        ('id,p\n"a,1\n', EDGES_CSV, ("nodes.csv", "not a table")),
        (NODES_CSV, "", ("edges.csv", "empty")),
        (NODES_CSV, "source,target\na,z\n", ("edges.csv", "line 2", "'z'")),
        (NODES_CSV, "source,target\na,b,c\n", ("edges.csv", "line 2", "3 cells")),
        (NODES_CSV, "source\na\n", ("edges.csv", "source,target")),
        (NODES_CSV, "a,b\nb,c\n", ("edges.csv", "header")),
        ("id,graph\na,1\nb,2\n", "source,target\na,b\n", ("'a'", "'b'", "two graphs")),
    ],
)
def test_bad_csv(tmp_path: Path, nodes: str, edges: str, parts: tuple[str, ...]) -> None:
    fails(write_csv(tmp_path, nodes, edges), *parts)


def test_csv_that_is_missing_or_not_text(tmp_path: Path) -> None:
    path = as_csv(tmp_path)
    (path / "edges.csv").unlink()
    fails(path, "edges.csv", "missing")
    (path / "nodes.csv").write_bytes(b"id,p\n\xff\xfe,1\n")
    fails(path, "UTF-8")


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"T_A": ""}, ("T_A.txt", "empty")),
        ({"T_A": "1, 5"}, ("node 5", "1 to 4")),
        ({"T_A": "0, 1"}, ("node 0",)),
        ({"T_A": "1, 1.5"}, ("node 1.5",)),
        ({"T_A": "1, 2\n1"}, ("line 2", "1 cells")),
        ({"T_graph_indicator": "1\n1\n2\n2"}, ("'3', '2'", "two graphs")),
        ({"T_graph_indicator": "1\none\n"}, ("line 2", "'one'")),
        ({"T_node_attributes": "1\n2\n3\n"}, ("3 rows", "4")),
        ({"T_node_attributes": "1,1\n2,2\n3,?\n4,4"}, ("line 3", "column 2", "'?'")),
        ({"T_node_attributes": "1,1\n2,2\n3\n4,4"}, ("line 3", "1 cells")),
        ({"T_node_labels": "1\n2\n3\n"}, ("T_node_labels.txt", "3 rows")),
        ({"T_node_labels": "1\n2\n3\n4,4"}, ("line 4", "2 cells")),
        ({"U_A": "1,2"}, ("several", "U_A.txt")),
    ],
)
def test_bad_tud(tmp_path: Path, files: dict[str, str], parts: tuple[str, ...]) -> None:
    as_tud(tmp_path)
    fails(write(tmp_path, **files), *parts)


def test_tud_without_its_indicator(tmp_path: Path) -> None:
    fails(write(tmp_path, T_A="1, 2"), "T_graph_indicator.txt", "missing")


NODE = '<node id="a"/>'


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("<graph>", ("not valid GraphML",)),
        ("", ("not valid GraphML",)),
        ("<graph/>", ("no nodes",)),
        (f"<graph>{NODE}{NODE}</graph>", ("2 nodes", "'a'")),
        (f'<graph>{NODE}<edge source="a" target="z"/></graph>', ("'z'", "not there")),
        (f"<graph>{NODE}</graph><graph/>", ("several graphs",)),
        (f'<graph>{NODE}<node id="b"><graph><node id="c"/></graph></node></graph>', ("'c'", "flatten")),
        (f'<graph edgedefault="directed">{NODE}<edge source="a" target="a" directed="false"/></graph>', ("directed",)),
        ('<graph><node id="a"><data key="k">big</data></node></graph>', ("not valid GraphML", "big")),
        ('<graph><node id="a"><data key="k">NaN</data></node></graph>', ("'size'", "'a'", "finite")),
        ('<graph><node id="a"><data key="no">1</data></node></graph>', ("not valid GraphML",)),
    ],
)
def test_bad_graphml(tmp_path: Path, body: str, parts: tuple[str, ...]) -> None:
    fails(graphml(tmp_path, body), *parts)


def test_graphml_with_a_missing_value(tmp_path: Path) -> None:
    key = '<key id="k" for="node" attr.name="size" attr.type="int"/>'
    path = graphml(tmp_path, f'<graph>{NODE}<node id="b"><data key="k">3</data></node></graph>', key)
    fails(path, "'size'", "'a'", "''")
