"""What is wrong with arguments is told in words that are not the parser's."""

from __future__ import annotations

import pytest

from mpnp.cli.helping import overview

from .commands import Run


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("predict", "missing: [MODEL] GRAPH; see 'mpnp predict --help'."),
        ("train", "missing: TASK; see 'mpnp train --help'."),
        ("train ca/voronoi --epochs abc", "--epochs abc was given, a whole number is expected"),
        ("suggest . --count 1.5", "--count 1.5 was given, a whole number is expected"),
        ("predict . --coverage much", "--coverage much was given, a number is expected"),
        ("predict . --device tpu", "--device tpu was given, one of auto, cpu, cuda, mps is expected"),
        ("data prepare mnist", "NAME mnist was given, one of shapenet, ppisp is expected"),
        ("train ca/voronoi --bogus 3", "there is no option --bogus 3; see 'mpnp train --help'."),
        ("predict . --treads 3", "there is no option --treads 3: did you mean --threads? See 'mpnp predict --help'."),
    ],
)
def test_wrong_arguments_in_plain_words(refuses: Run, command: str, said: str) -> None:
    assert said in refuses(*command.split())


def test_the_overview_lists_every_command_once_in_its_group() -> None:
    text = overview({"First": ["a"], "Second": ["b", "c"]}, {"a": "does this", "b": "does that", "c": "long " * 40})
    places = [text.index(words) for words in ("First", "does this", "Second", "does that", "long")]
    assert places == sorted(places) and max(map(len, text.splitlines())) <= 96
