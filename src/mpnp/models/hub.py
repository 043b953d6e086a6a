"""Models on the Hugging Face hub: fetched as ``hf:user/name``, brought there by ``mpnp push``.

Nothing else in the package asks the network for a model. Who may write is the client's own business ('hf auth login').
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..errors import UserError, extras
from ..files import write_json
from .base import FEATURES
from .calibration import FILE, Calibration
from .card import card

HUB = "hf:"  # before the name of a model on the hub
NEEDED = ("config.json", "model.safetensors")
WELCOME = ("metrics.json", FILE, FEATURES)


def check_name(name: str) -> None:
    if name.count("/") != 1 or not all(name.split("/")) or " " in name:
        raise UserError(f"'{HUB}{name}' was given; a model on the hub is called {HUB}user/name.")


def downloaded(name: str) -> Path:
    """The folder in the client's cache that holds the model ``name``; only the files of a model are fetched."""
    check_name(name)
    with extras():
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache
        from huggingface_hub.errors import EntryNotFoundError

    try:
        if not isinstance(try_to_load_from_cache(name, NEEDED[0]), str):
            # Fails at once where there is no network; the download would try again for half a minute.
            get_hf_file_metadata(hf_hub_url(name, NEEDED[0]), timeout=10)
        config, _ = (Path(hf_hub_download(name, file)) for file in NEEDED)
        for file in WELCOME:
            with contextlib.suppress(EntryNotFoundError):
                hf_hub_download(name, file)
    except Exception as error:  # of the network, the hub or the disk
        raise UserError(
            f"There is no model '{name}' on the hub that can be read here ({type(error).__name__}); check the name and the "
            "connection, or give the folder of a model."
        ) from error
    return config.parent


def push(folder: Path, name: str, *, private: bool = False) -> str:
    """Bring the model in ``folder`` to the hub as ``name``, with a card that tells its figures; the address it has there.

    Checkpoints, logs and whatever else lies in the folder stay here.
    """
    check_name(name)
    with extras():
        from huggingface_hub import HfApi

    notes = {file: _without_places(_read(folder / file)) for file in ("config.json", "metrics.json")}
    with tempfile.TemporaryDirectory() as scratch:
        for file in ("model.safetensors", FILE, FEATURES):
            if (folder / file).is_file():
                shutil.copyfile(folder / file, Path(scratch) / file)
        for file, content in notes.items():
            if content:
                write_json(Path(scratch) / file, content)
        text = card(notes["config.json"], notes["metrics.json"], Calibration.read(folder / FILE), name)
        (Path(scratch) / "README.md").write_text(text, encoding="utf-8")
        api = HfApi()
        try:
            url = api.create_repo(name, private=private, exist_ok=True)
            api.upload_folder(repo_id=name, folder_path=scratch, commit_message="A model of mpnp")
        except Exception as error:  # of the network or the hub, which has many ways to refuse
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"'{name}' could not be pushed to the hub ({type(error).__name__}: {reason}); check the connection, and log "
                "in with 'hf auth login'."
            ) from error
    return str(url)


def _without_places(content: dict[str, Any]) -> dict[str, Any]:
    """Without where the owner's graphs lie, which is no one else's business."""
    clean = {key: _without_places(value) if isinstance(value, dict) else value for key, value in content.items()}
    if str(clean.get("task", "")).startswith("own:"):
        clean["task"] = ""
    return clean


def _read(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}
