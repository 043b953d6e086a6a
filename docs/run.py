"""Run the code of the pages and put below each block what it printed: ``python -m docs.run [PAGE …]``.

Blocks of a page run in their order, in one namespace and one temporary folder. ``python`` is executed. Of ``sh`` every
line is a command; those of ``mpnp`` run in this process, so that torch is imported once. A block of another language with
a file's name beside it is written to that file. A ``text`` block right below one that ran is its output. Pictures that the
page shows are copied from the folder to where the page looks for them.

A first line ``# not run here: REASON`` keeps a block from running: its commands and their options are checked all the same.
A first line ``# needs TASK`` skips it where that task's data is not there.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<code>.*?)^```$\n?", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"\n```text\n.*?^```$\n?", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
# What takes long and changes no line of the code: a test does it once.
OFTEN = re.compile(r"(\b(?:epochs|draws|seeds)=|--(?:epochs|draws|seeds) )\d+")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it stands for (or none), its code, and where it ends in the page."""

    language: str
    file: str | None
    code: str
    end: int

    @property
    def not_run(self) -> str | None:
        """Why it is not run, if it is not."""
        found = re.match(r"# not run here: (.+)\n", self.code)
        return found[1] if found else None

    @property
    def needs(self) -> str | None:
        """The task whose data it needs."""
        found = re.match(r"# needs (\S+)\n", self.code)
        return found[1] if found else None

    @property
    def commands(self) -> list[str]:
        """The commands of a ``sh`` block, one by one."""
        lines = self.code.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]


@dataclass
class Run:
    """What came of a page: the output of each block that ran, by its end in the page; why others were not run, and which
    data others would have needed."""

    outputs: dict[int, str] = field(default_factory=dict)
    not_run: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def blocks(text: str) -> list[Block]:
    return [Block(found["language"], found["file"], found["code"], found.end()) for found in FENCE.finditer(text)]


def indented_commands(text: str) -> Iterator[str]:
    """Commands of ``mpnp`` in indented blocks, without what stands beside them."""
    for line in FENCE.sub("", text).splitlines():
        found = re.match(r" {4}(?:\w+=\S+ )*(mpnp .+?)(?: {2,}.*)?$", line)
        if found:
            yield found[1]


def run(page: Path, folder: Path, *, quick: bool = False) -> Run:
    """Run the blocks of ``page`` in ``folder``; ``quick``: one epoch, one draw, one seed of everything."""
    done, names = Run(), {"__name__": "__main__"}
    with chdir(folder):
        for block in blocks(page.read_text(encoding="utf-8")):
            code = OFTEN.sub(r"\g<1>1", block.code) if quick else block.code
            if block.file:
                Path(block.file).parent.mkdir(parents=True, exist_ok=True)
                Path(block.file).write_text(code, encoding="utf-8")
            elif block.not_run:
                check(block)
                done.not_run.append(block.not_run)
            elif block.needs and (lacking := _missing(block.needs)):
                done.lacking.append(lacking)
            elif block.language == "python":
                done.outputs[block.end] = _python(code, names, page)
            elif block.language == "sh":
                commands = Block("sh", None, code, block.end).commands
                done.outputs[block.end] = "".join(_command(command) for command in commands)
            elif block.language != "text":
                raise ValueError(
                    f"{page}: a block of {block.language} is neither run nor a file; name the file beside it."
                )
    return done


def check(block: Block) -> None:
    """That a block which is not run could be: its Python has no syntax error, its commands know their options."""
    if block.language == "python":
        compile(block.code, "a block that is not run", "exec")
    for command in block.commands if block.language == "sh" else ():
        check_command(command)


def check_command(command: str) -> None:
    from mpnp.cli.main import COMMANDS, _parser

    words = shlex.split(command, comments=True)
    while words and re.fullmatch(r"\w+=.*", words[0]):
        del words[0]
    if words[:1] == ["mpnp"] and words[1:] not in ([], ["--help"], ["--version"]):
        assert words[1] in COMMANDS, f"'{command}' is no command"
        _parser(words[1])[0].parse_args(words[1:])


def written(text: str, outputs: dict[int, str]) -> str:
    """The page with every output below its block, in place of the one that was there."""
    parts, at = [], 0
    for end, output in sorted(outputs.items()):
        parts.append(text[at:end])
        before = OUTPUT.match(text, end)
        at = before.end() if before else end
        if output.strip():
            kept = "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
            parts.append(f"\n```text\n{kept}\n```\n")
    return "".join([*parts, text[at:]])


def pages() -> list[Path]:
    """Every page in a folder of its kind, and the first one: below their blocks stands what they print."""
    return sorted([ROOT / "docs" / "index.md", *(ROOT / "docs").glob("*/*.md")])


def main(given: list[str]) -> None:
    os.environ["COLUMNS"] = "100"  # of what --help prints
    for page in [Path(name).resolve() for name in given] or pages():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            text = page.read_text(encoding="utf-8")
            done = run(page, folder)
            if page.read_text(encoding="utf-8") != text:
                raise SystemExit(f"{page} was changed while it ran; run it again.")
            clean = {end: output.replace(f"{folder}/", "") for end, output in done.outputs.items()}
            page.write_text(written(text, clean), encoding="utf-8")
            for picture in PICTURE.findall(text):
                if (made := folder / Path(picture).name).exists():
                    shutil.copy(made, page.parent / picture)
        print(
            f"{page.relative_to(ROOT)}: {len(done.outputs)} blocks ran, {len(done.not_run)} are not meant to.",
            *done.lacking,
        )


def _python(code: str, names: dict[str, Any], page: Path) -> str:
    with redirect_stdout(io.StringIO()) as output:
        exec(compile(code, str(page), "exec"), names)
    return output.getvalue()


def _command(command: str) -> str:
    from mpnp.cli import main as mpnp

    words = shlex.split(command, comments=True)
    if words[:1] != ["mpnp"]:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=dict(os.environ))
        if done.returncode:
            raise RuntimeError(f"'{command}' ended with {done.returncode}: {done.stderr}")
        return done.stdout
    with redirect_stdout(io.StringIO()) as output:
        try:
            mpnp(words[1:])
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"'{command}' ended with {end.code}: {output.getvalue()}") from end
    return output.getvalue()


def _missing(task: str) -> str | None:
    from mpnp import get_task

    return get_task(task).missing()


if __name__ == "__main__":
    main(sys.argv[1:])
