"""The tests of the published Python client once more, with the oldest version that is supported."""

import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
CLIENT = HERE.parents[1] / ".venv" / "oldest-client"


async def test_oldest_supported_client(backend: str) -> None:
    """A process of its own, because the other version is imported in this one."""
    files = map(str, sorted(HERE.glob("test_published_*.py")))
    options = ["-q", "-p", "no:cacheprovider", "-m", "not newer_client", "-k", f"{backend} and not javascript"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", *options, *files),
        env={**os.environ, "PYTHONPATH": str(CLIENT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()

    assert (CLIENT / "novu_py").is_dir()
    assert process.returncode == 0, printed.decode()
