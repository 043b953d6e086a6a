"""``mpnp sample``: labellings that hang together, from the prompt."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from mpnp.cli.main import main


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Twelve nodes in a ring with two labels, as node and edge tables."""
    place = tmp_path / "ring"
    place.mkdir()
    labels = {0: "no", 6: "yes"}
    rows = [f"n{i},{labels.get(i, '')},{i % 3}" for i in range(12)]
    (place / "nodes.csv").write_text("\n".join(["node,label,x", *rows]) + "\n", encoding="utf-8")
    edges = [f"n{i},n{(i + 1) % 12}" for i in range(12)]
    (place / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n", encoding="utf-8")
    return place


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_column_per_labelling_and_a_picture(ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "s.csv", tmp_path / "s.png"
    command = ["sample", "label-propagation", str(ring), "--count", "5", "--out", str(out)]
    main([*command, "--picture", str(picture)])
    rows = read(out)
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(12)]
    assert {row[f"sample_{i}"] for row in rows for i in range(1, 6)} == {"no", "yes"}
    assert rows[0]["given"] == "no" and all(rows[0][f"sample_{i}"] == "no" for i in range(1, 6))
    told = capsys.readouterr().out
    assert "5 labellings of 12 nodes" in told and "Log-likelihood of what was drawn" in told
    assert picture.stat().st_size > 5_000
    first = out.read_bytes()
    main(command)
    assert out.read_bytes() == first


def test_what_varies_with_the_latent(ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "z.csv", tmp_path / "z.png"
    main(["sample", str(ring), "--latent", "--count", "4", "--out", str(out), "--picture", str(picture)])
    assert "varies with the latent variable" in capsys.readouterr().out
    assert len(read(out)) == 12 and picture.exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--count", "0"], "--count 0 was given, at least 1"),
        (["--blocks", "0"], "--blocks 0 was given, at least 1"),
        (["--latent"], "has no latent variable"),
        (["--picture", "x.doc"], ".doc"),
    ],
)
def test_what_is_refused(ring: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sample", "label-propagation", str(ring), *options])
    assert told in capsys.readouterr().err


def test_a_graph_without_any_label_is_refused(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ring / "nodes.csv").write_text(
        "\n".join(["node,x", *(f"n{i},{i % 3}" for i in range(12))]) + "\n", encoding="utf-8"
    )
    with pytest.raises(SystemExit):
        main(["sample", str(ring)])
    assert "no classes to draw" in capsys.readouterr().err


def test_no_cell_is_a_formula_and_the_labels_may_lie_elsewhere(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ring / "nodes.csv").read_text(encoding="utf-8")
    (ring / "nodes.csv").write_text(text.replace("label", "side").replace("yes", "=1+1").replace("n3,", "@n3,"))
    edges = (ring / "edges.csv").read_text(encoding="utf-8").replace("n3\n", "@n3\n").replace("\nn3,", "\n@n3,")
    (ring / "edges.csv").write_text(edges, encoding="utf-8")
    out = tmp_path / "s.csv"
    main(["sample", "label-propagation", str(ring), "--label-column", "side", "--count", "3", "--out", str(out)])
    rows = read(out)
    assert rows[6]["given"] == rows[6]["sample_1"] == "'=1+1" and rows[3]["node"] == "'@n3"
    assert "Column 'side' holds the labels." in capsys.readouterr().out
