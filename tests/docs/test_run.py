"""Pages that run: what is executed, what is only checked, and where outputs go."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.run import blocks, check_command, indented_commands, run, written

from mpnp import UserError

PAGE = """# A page

```csv nodes.csv
id,label
a,x
```

```python
from pathlib import Path
rows = Path("nodes.csv").read_text().splitlines()
print(len(rows))
```

```text
what it printed last time
```

```sh
echo one  # a comment
cat nodes.csv
```

```python
print(rows[0])
```

The end.
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_blocks_share_names_and_a_folder(page: Path, tmp_path: Path) -> None:
    done = run(page, tmp_path)
    assert list(done.outputs.values()) == ["2\n", "one\nid,label\na,x\n", "id,label\n"]


def test_outputs_are_put_below_their_blocks_once(page: Path, tmp_path: Path) -> None:
    once = written(PAGE, run(page, tmp_path).outputs)
    assert "```text\n2\n```" in once and "last time" not in once
    assert once.endswith("```text\nid,label\n```\n\nThe end.\n")
    page.write_text(once)
    assert written(once, run(page, tmp_path).outputs) == once


def test_a_block_that_fails_is_not_passed_over(page: Path, tmp_path: Path) -> None:
    page.write_text("```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError):
        run(page, tmp_path)
    page.write_text("```pycon\n>>> 1\n```\n")
    with pytest.raises(ValueError, match="pycon"):
        run(page, tmp_path)
    page.write_text("```sh\nmpnp predict nothing-there\n```\n")
    with pytest.raises(RuntimeError, match="mpnp predict nothing-there"):
        run(page, tmp_path)


def test_quick_means_one_epoch(page: Path, tmp_path: Path) -> None:
    page.write_text("```python\nprint(dict(epochs=30, draws=4), '--seeds 3')\n```\n")
    assert list(run(page, tmp_path, quick=True).outputs.values()) == ["{'epochs': 1, 'draws': 1} --seeds 1\n"]


def test_what_is_not_run_is_checked(page: Path, tmp_path: Path) -> None:
    page.write_text("```sh\n# not run here: it takes an hour\nmpnp train ca/voronoi --epochs 3\n```\n")
    assert run(page, tmp_path).not_run == ["it takes an hour"]
    page.write_text("```sh\n# not run here: it takes an hour\nmpnp train ca/voronoi --epoch-count 3\n```\n")
    with pytest.raises(UserError):
        run(page, tmp_path)
    page.write_text("```python\n# not run here: it takes an hour\nfor\n```\n")
    with pytest.raises(SyntaxError):
        run(page, tmp_path)


def test_a_block_that_needs_data_says_so(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPNP_DATA", str(tmp_path))
    page.write_text("```sh\n# needs shapenet/mug\nmpnp evaluate mode --task shapenet/mug\n```\n")
    done = run(page, tmp_path)
    assert done.outputs == {} and "ShapeNet" in done.lacking[0]


def test_commands_in_indented_blocks() -> None:
    text = "    mpnp check my/graph      what was read\n    A=1 mpnp tasks\n\n```sh\n    mpnp no\n```\n"
    assert list(indented_commands(text)) == ["mpnp check my/graph", "mpnp tasks"]
    check_command("A=1 mpnp check my/graph  # as given")


def test_blocks_end_where_their_output_begins() -> None:
    first = blocks(PAGE)[1]
    assert PAGE[first.end :].startswith("\n```text")
