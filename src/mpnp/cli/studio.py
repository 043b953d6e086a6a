"""``mpnp studio``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError
from .common import add_computing, add_reading, at_least, reading, set_up
from .names import check_graph, check_model

HELP = "label a graph in the browser, see the belief change with every click, be told what to label next"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "graph", type=str, nargs="?", default=None, help="your graph, any kind of file (default: a page to choose one)"
    )
    parser.add_argument("--model", type=str, default=None, help="a predictor, or the folder of a trained model")
    parser.add_argument(
        "--labels", type=str, default=None, help="table that labels are kept in (default: mpnp-studio/NAME-labels.csv)"
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    add_reading(parser)
    add_computing(parser, seed=False, json=False, device=False)


def run(options: Namespace) -> None:
    at_least(options, threads=1)
    if options.labels and not options.graph:
        raise UserError("--labels belongs to a graph; give the graph, too.")
    if reading(options) and not options.graph:
        raise UserError("--label-column, --directed and --ignore belong to a graph; give the graph, too.")
    if options.model:
        check_model(options.model)
    if options.graph:
        check_graph(options.graph)

    from ..studio import NEEDS, missing

    try:
        from ..studio.server import Server
    except ModuleNotFoundError as error:
        if error.name not in NEEDS:
            raise
        raise UserError(missing(str(error.name))) from error
    import webbrowser

    from ..models import find_predictor
    from ..studio.belief import default_model, known_classes
    from ..studio.scene import from_file
    from ..studio.workspace import Workspace, name_of

    set_up(options)
    model = options.model or default_model()
    find_predictor(model)  # an unknown name is told before anything opens
    workspace, path = Workspace(Path.cwd(), model), "/"
    if options.graph:
        print(f"Reading {options.graph} …", flush=True)
        graph, labels = Path(options.graph), Path(options.labels) if options.labels else None
        name = name_of(graph)
        workspace.add(name, from_file(graph, known_classes(model), **reading(options)), labels)
        path = f"/graph/{name}"
    server = Server(workspace, options.port)
    address = server.guard.address(path)
    print(f"The studio is at {address}\nOnly this machine can reach it. Ctrl-C ends it; labels are kept.", flush=True)
    if not options.no_browser:
        webbrowser.open(address)
    server.serve()
