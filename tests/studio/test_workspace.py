"""The folder: what can be opened, and that nothing outside it can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.studio import workspace as module
from mpnp.studio.workspace import Workspace, slug

NODES, EDGES = b"id,label\na,x\nb,\nc,y\n", b"source,target\na,b\nb,c\n"


async def stream(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def bring(workspace: Workspace, files: dict[str, bytes]) -> str:
    async def run() -> str:
        for name, content in files.items():
            await workspace.receive("batch", name, stream(content[:5], content[5:]))
        return await workspace.admit("batch")

    return asyncio.run(run())


def save(path: Path) -> None:
    torch.save(Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]])), path)


def test_graphs_of_the_folder_are_listed(workspace: Workspace, tmp_path: Path) -> None:
    save(tmp_path / "My Graph.pt")
    (tmp_path / "notes.txt").write_text("no graph")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "nodes.csv").write_bytes(NODES)
    assert workspace.graphs() == {"my-graph": tmp_path / "My Graph.pt", "tables": tmp_path / "tables"}
    listing = workspace.listing()
    assert [one["name"] for one in listing["graphs"]] == ["my-graph", "tables"]
    assert "karate" in [one["name"] for one in listing["examples"]]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    save(tmp_path / "secret.pt")
    (tmp_path / "in" / "link.pt").symlink_to(tmp_path / "secret.pt")
    assert Workspace(tmp_path / "in", "label-propagation").graphs() == {}


@pytest.mark.parametrize(
    "name", ["../secret", "..", "/etc/passwd", "secret.pt", "", "%2e%2e%2fsecret", "karate/../../secret"]
)
def test_no_name_leads_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    save(tmp_path / "secret.pt")
    with pytest.raises(UserError, match="There is no graph"):
        asyncio.run(Workspace(tmp_path / "in", "label-propagation").room(name))


def test_an_upload_becomes_a_graph_of_the_folder(workspace: Workspace) -> None:
    name = bring(workspace, {"nodes.csv": NODES, "edges.csv": EDGES})
    assert name in workspace.graphs()
    room = asyncio.run(workspace.room(name))
    assert room.scene.names == ["a", "b", "c"] and room.labelling.labels.tolist() == [0, -1, 1]
    assert bring(workspace, {"nodes.csv": NODES, "edges.csv": EDGES}) == f"{name}-2"
    assert not list((workspace.place / "incoming").iterdir())


def test_labels_are_counted_on_the_start_page(workspace: Workspace) -> None:
    name = bring(workspace, {"nodes.csv": NODES, "edges.csv": EDGES})
    asyncio.run(workspace.room(name))
    assert [one["labels"] for one in workspace.listing()["graphs"]] == [2]


@pytest.mark.parametrize(
    "name", ["../a.pt", "a/b.pt", ".hidden.pt", "a.exe", "a.pt\n", "", "x" * 200 + ".pt", "nodes.csv\0.pt"]
)
def test_bad_file_names_are_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(UserError, match="cannot be opened"):
        asyncio.run(workspace.receive("batch", name, stream(b"x")))
    assert not (workspace.place / "incoming").exists() or not list(workspace.place.rglob("*.*"))


def test_uploads_are_bounded(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 100)
    with pytest.raises(UserError, match="start 'mpnp studio PATH'"):
        asyncio.run(workspace.receive("batch", "a.pt", stream(*[b"x" * 60] * 5)))
    assert not list(workspace.place.rglob("*.pt"))
    monkeypatch.setattr(module, "MOST_FILES", 1)
    asyncio.run(workspace.receive("batch", "a.pt", stream(b"x")))
    with pytest.raises(UserError, match="More than 1 files"):
        asyncio.run(workspace.receive("batch", "b.pt", stream(b"x")))


def test_a_bad_upload_is_told_without_our_paths_and_leaves_nothing(workspace: Workspace) -> None:
    with pytest.raises(UserError) as told:
        bring(workspace, {"broken.pt": b"not a graph"})
    assert "broken.pt" in str(told.value) and str(workspace.folder) not in str(told.value)
    assert workspace.graphs() == {} and not list((workspace.place / "incoming").iterdir())


def test_nothing_in_a_file_is_executed(workspace: Workspace, tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "owned",)

    torch.save(Payload(), tmp_path / "payload")
    with pytest.raises(UserError):
        bring(workspace, {"evil.pt": (tmp_path / "payload").read_bytes()})
    assert not (tmp_path / "owned").exists()


def test_names_fit_into_an_address() -> None:
    assert slug("Ünsere Daten (2).pt") == "nsere-daten-2-pt" and slug("///") == "graph"
