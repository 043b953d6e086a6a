"""What MkDocs is told beyond ``mkdocs.yml``: pages that lie beside ``docs/``, file names above blocks, formulas."""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Outside of docs/, but worth reading there, with the pictures they show.
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "results/*/README.md", "results/*/*.png")
LINK = re.compile(r"(?P<text>!?\[[^\]]*\])\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```(\w+) (\S+\.\w+)$", re.MULTILINE)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
PICTURE = re.compile(r'<img [^>]*src="(?P<src>[^"]+)"[^>]*>')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Whatever ``results/`` has a page of is listed under the results, and a page that is listed nowhere under the how-tos."""
    sections = {title: pages for part in config.nav or [] for title, pages in part.items()}
    sections["Results"] += [_uri(path) for path in sorted(ROOT.glob("results/*/README.md"))]
    listed = {page for pages in sections.values() for page in pages}
    sections["How to"] += [_uri(path) for path in sorted(ROOT.glob("docs/*.md")) if _uri(path) not in listed]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for pattern in BESIDE:
        for path in sorted(ROOT.glob(pattern)):
            files.append(File.generated(config, _uri(path), abs_src_path=str(path)))
    return files


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links lead where the page stands in the site; where a file is not part of it, its name stands alone."""
    here = Path(str(page.file.abs_src_path)).parent

    def led(found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = Path(posixpath.normpath(here / target))
        place = _uri(path)
        if files.get_file_from_path(place) is None:
            return found["text"].strip("![]") if not path.is_relative_to(ROOT / "docs") else found[0]
        return f"{found['text']}({posixpath.relpath(place, posixpath.dirname(page.file.src_uri))}{anchor})"

    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(NAMED.sub(r'```\1 title="\2"', found[0]))
        return f"\x00{len(kept) - 1}\x00"

    text = LINK.sub(led, FENCE.sub(keep, text)).replace("<details>", '<details markdown="1">')
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], text)


def on_page_content(text: str, **_: Any) -> str:
    """Formulas as MathML, which browsers draw without a script; pictures open in full size, for small screens."""

    def drawn(found: re.Match[str]) -> str:
        display = "block" if found[1] == "div" else "inline"
        return str(convert(html.unescape(found[2].strip()), display=display))

    text = PICTURE.sub(r'<a class="picture" href="\g<src>">\g<0></a>', text)
    return FORMULA.sub(drawn, text)


def _uri(path: Path) -> str:
    """Where a file of the repository stands in the site."""
    base = ROOT / "docs" if path.is_relative_to(ROOT / "docs") else ROOT
    uri = path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)
    return f"{uri}.md" if path.name == "LICENSE" else uri
