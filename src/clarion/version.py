"""The version of this build, with the commit that it was made from where that is known."""

from pathlib import Path

from clarion import __version__

COMMIT_FILE = Path(__file__).parent / "commit.txt"
"""Written by `hatch_build.py`; a checkout has none."""


def describe_build(version: str, commit_file: Path) -> str:
    try:
        return f"{version}+{commit_file.read_text().strip()}"
    except FileNotFoundError:
        return version


BUILD = describe_build(__version__, COMMIT_FILE)
