"""The baseline that Clarion is compared with, what a team would write itself: FastAPI, Celery on Redis, PostgreSQL.

Its folder has an `app.py` (`app`, `celery`; run as a script it seeds the database) and a `requirements.txt`.
CLARION_BENCH_BASELINE names the folder. Without it, or without a Redis server, there is no comparison.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from bench.processes import ROOT, clean_environ, running, wait_for_answer
from bench.systems import BASELINE, Site, System, make_database, postmaster_pid
from tests.servers import free_port

KEY = "bench-key"
_VENV = ROOT / "bench" / ".cache" / "baseline"
_INSTALLED = _VENV / "installed"
_PARALLEL_WORKERS = str(os.cpu_count() or 1)


def install_baseline() -> None:
    """Install the libraries of the baseline into their own virtual environment, once, before the time of a run begins.

    Whatever goes wrong is told by `start_baseline`: the rest is measured without a comparison.
    """
    with suppress(RuntimeError, OSError, subprocess.CalledProcessError):
        requirements = _find_baseline() / "requirements.txt"
        if _INSTALLED.exists():
            return
        shutil.rmtree(_VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(_VENV)], check=True, capture_output=True)
        pip = [str(_VENV / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(requirements)], check=True, capture_output=True)
        _INSTALLED.touch()


@asynccontextmanager
async def start_baseline(site: Site) -> AsyncIterator[System]:
    """Start API, worker and Redis with their defaults, on a database of the same PostgreSQL server."""
    source, folder = _find_baseline(), site.folder / "baseline"
    if not _INSTALLED.exists():
        raise RuntimeError("the libraries of the baseline could not be installed")
    folder.mkdir(parents=True, exist_ok=True)
    url = await make_database(site.server, "baseline")
    redis_port, api_port = free_port(), free_port()
    environ = clean_environ(
        {
            "DB_URL": url.replace("postgresql://", "postgresql+psycopg2://", 1),
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )
    with ExitStack() as started:
        redis = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", str(folder)]
        redis_pid = started.enter_context(running(redis, environ=environ, log=folder / "redis.log")).pid
        await asyncio.to_thread(_run, [str(_VENV / "bin/python"), "app.py"], source, environ)
        worker_pid = started.enter_context(
            running(_worker(), environ=environ, log=folder / "worker.log", folder=source)
        ).pid
        api = started.enter_context(running(_api(api_port), environ=environ, log=folder / "api.log", folder=source))
        address = f"http://127.0.0.1:{api_port}"
        await wait_for_answer(address, "/healthz", api, folder / "api.log")
        groups = {
            "api": [api.pid],
            "worker": [worker_pid],
            "redis": [redis_pid],
            "postgres": [postmaster_pid(site.server)],
        }
        yield System(
            kind=BASELINE,
            address=address,
            groups=groups,
            folder=folder,
            key=KEY,
            database_url=url,
            scale=site.scale,
        )


def _find_baseline() -> Path:
    """Return the folder of the baseline; raise with the reason why there is no comparison."""
    folder = Path(os.environ.get("CLARION_BENCH_BASELINE", ROOT.parent / "shared" / "baseline"))
    if not (folder / "app.py").is_file():
        raise RuntimeError("no baseline was found (CLARION_BENCH_BASELINE names its folder)")
    if shutil.which("redis-server") is None:
        raise RuntimeError("the baseline needs `redis-server` on the PATH")
    return folder


def _worker() -> list[str]:
    celery = [str(_VENV / "bin/celery"), "-A", "app.celery", "worker"]
    return [*celery, "--concurrency", _PARALLEL_WORKERS, "--loglevel", "WARNING"]


def _api(port: int) -> list[str]:
    return [str(_VENV / "bin/uvicorn"), "app:app", "--host", "127.0.0.1", "--port", str(port), "--no-access-log"]


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> None:
    subprocess.run(command, cwd=folder, env=dict(environ), check=True, capture_output=True, timeout=120)
