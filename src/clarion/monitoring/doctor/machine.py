"""Checks of the machine: variables, the data folder, its files and its disk."""

import dataclasses
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from clarion.db.open import store_path
from clarion.monitoring.doctor.model import Finding, fine, problem, warning
from clarion.settings.model import Settings, variable
from clarion.vault import KEY_FILE
from clarion.vocabulary import count_text

_MEGABYTE = 1_000_000
_LITTLE_SPACE = 1_000 * _MEGABYTE
_NO_SPACE = 200 * _MEGABYTE
_OTHERS = 0o077
_PREFIX = "CLARION_"


def check_machine(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    return [
        _check_variables(environ),
        *_check_files(settings),
        *([] if settings.database_url is not None else [_check_disk(settings.data_dir)]),
    ]


def _check_variables(environ: Mapping[str, str]) -> Finding:
    """Names that no setting has are typing errors: nothing else reads them."""
    known = {variable(item.name) for item in dataclasses.fields(Settings)}
    given = {name for name in environ if name.startswith(_PREFIX)}
    unknown = sorted(name for name in given - known if name.removesuffix("_FILE") not in known)
    if unknown:
        return warning(
            "settings",
            f"No setting is called {', '.join(unknown)}.",
            "`clarion settings` lists all names; correct it, or remove the variable.",
        )
    return fine("settings", f"{count_text(len(given), 'variable is', 'variables are')} set, and all are valid.")


def _check_files(settings: Settings) -> Iterator[Finding]:
    keys = settings.data_dir / KEY_FILE
    files = [keys] if settings.encryption_keys is None else []
    files += [store_path(settings)] if settings.database_url is None else []
    open_files = [str(one) for one in files if one.exists() and one.stat().st_mode & _OTHERS]
    if open_files:
        yield warning("files", f"Other users can read {', '.join(open_files)}.", f"chmod 600 {' '.join(open_files)}")
    else:
        yield fine("files", "Store and keys are for their owner alone.")


def _check_disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    summary = f"{usage.free // _MEGABYTE} MB of {usage.total // _MEGABYTE} MB are free in {folder}."
    remedy = "Free space, or move the data folder to a larger disk; shorter retention keeps the store small."
    if usage.free < _NO_SPACE:
        return problem("disk", summary, remedy)
    if usage.free < _LITTLE_SPACE:
        return warning("disk", summary, remedy)
    return fine("disk", summary)
