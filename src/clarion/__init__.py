"""Clarion: notification infrastructure in one package."""

from pathlib import Path

__version__ = "0.1.0"


def describe_build(version: str, commit_file: Path) -> str:
    """Return the version of a build, with the commit that it was made from where that is known."""
    try:
        return f"{version}+{commit_file.read_text().strip()}"
    except FileNotFoundError:
        return version


# The file is written by `hatch_build.py`; a checkout has none.
BUILD = describe_build(__version__, Path(__file__).parent / "commit.txt")
