"""`python -m tests.mutants`: mutate modules and run their tests; prints what survives.

Results are written after each mutant, and a second run goes on where the first one stopped. Mutants of a module that
has changed are tried again, and survivors whose tests have changed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from queue import Queue

from tests.mutants.operators import Mutant, list_mutants
from tests.mutants.plan import MODULES, find_tests

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"


_running: set["subprocess.Popen[bytes]"] = set()


def main() -> int:
    options = _parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Terminated"))
    results = _read_results(options.out)
    mutants = _choose_mutants(options, results)
    open_ones = [one for one in mutants if not _is_known(results, one)]
    print(f"{len(mutants)} mutants, {len(mutants) - len(open_ones)} known from {options.out}", flush=True)
    with _copies_of_tree(options.processes) as copies, _pool(options.processes) as pool:
        if not options.unchecked:
            _check_tests(pool, copies, open_ones, options)
        submitted = {pool.submit(_try, one, copies, options): one for one in open_ones}
        for number, future in enumerate(as_completed(submitted), start=1):
            mutant, outcome = submitted[future], future.result()
            results[mutant.id] = {"outcome": outcome, "line": mutant.line, **_hashes(mutant.module)}
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1, sort_keys=True))
            print(f"{number}/{len(open_ones)} {outcome:9} {mutant.id} (line {mutant.line})", flush=True)
    _report(mutants, results)
    return 0


@contextmanager
def _pool(processes: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that wait for tests; when this is interrupted, no tests go on."""
    pool = ThreadPoolExecutor(processes)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in tuple(_running):
            os.killpg(process.pid, signal.SIGKILL)
        pool.shutdown()


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(MODULES), help="files or folders; all of the plan if none")
    parser.add_argument("--sample", type=int, help="try only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="which sample is drawn")
    parser.add_argument("--survivors", action="store_true", help="try only those that survived before")
    parser.add_argument("--seconds", type=float, default=240, help="how long the tests of one mutant may take")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("--both", action="store_true", help="run tests on PostgreSQL too, not on SQLite alone")
    parser.add_argument("--out", type=Path, default=ROOT / ".mutants" / "results.json")
    return parser.parse_args()


def _choose_mutants(options: argparse.Namespace, results: dict[str, dict[str, object]]) -> list[Mutant]:
    """Draw from all, then leave out equivalent ones: the sample of a seed stays the same when another is listed."""
    mutants = []
    for path in _list_files(options.modules):
        mutants += list_mutants(path.relative_to(ROOT).as_posix(), path.read_text())
    if options.survivors:
        mutants = [one for one in mutants if one.id in results and results[one.id]["outcome"] == SURVIVED]
    elif options.sample is not None and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    equivalent = read_equivalent(EQUIVALENT.read_text())
    return [one for one in mutants if one.id not in equivalent]


def _list_files(prefixes: Sequence[str]) -> list[Path]:
    files = (ROOT / "src").rglob("*.py")
    return sorted(one for one in files if one.relative_to(ROOT).as_posix().startswith(tuple(prefixes)))


def read_equivalent(text: str) -> dict[str, str]:
    """Mutants that change nothing that a test could see, with the reason: an id, then the reason indented below it."""
    found: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if line.startswith(" "):
            found[last] += line.strip() + " "
        elif line and not line.startswith("#"):
            last = line.strip()
            found[last] = ""
    return found


def _read_results(path: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _is_known(results: dict[str, dict[str, object]], mutant: Mutant) -> bool:
    known = results.get(mutant.id)
    if known is None:
        return False
    hashes = _hashes(mutant.module)
    return known["module"] == hashes["module"] and (known["outcome"] != SURVIVED or known["tests"] == hashes["tests"])


@cache
def _hashes(module: str) -> dict[str, str]:
    tests = [ROOT / one for one in find_tests(module)]
    files = [file for one in tests for file in (sorted(one.rglob("*.py")) if one.is_dir() else [one])]
    return {"module": _hash([ROOT / module]), "tests": _hash(files)}


def _hash(files: Sequence[Path]) -> str:
    return sha256(b"".join(one.read_bytes() for one in files)).hexdigest()[:16]


@contextmanager
def _copies_of_tree(count: int) -> Iterator["Queue[Path]"]:
    """Copies of the tree to put faults into, one for each process."""
    copies: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for number in range(count):
            copy = Path(folder) / str(number)
            for name in ("src", "tests", "bench", "docs"):
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(ROOT / name, copy / name, ignore=ignored)
            shutil.copy(ROOT / "pyproject.toml", copy)
            copies.put(copy)
        yield copies


def _check_tests(
    pool: ThreadPoolExecutor, copies: "Queue[Path]", mutants: Sequence[Mutant], options: argparse.Namespace
) -> None:
    """Without a fault, the tests have to pass in the time that they have."""
    modules = {find_tests(one.module): one.module for one in mutants}
    healthy = [Mutant("no fault", module, 0, (ROOT / module).read_text) for module in modules.values()]
    for one, outcome in zip(healthy, pool.map(lambda one: _try(one, copies, options), healthy), strict=True):
        if outcome != SURVIVED:
            raise SystemExit(f"{outcome} without a fault: {' '.join(find_tests(one.module))}")


def _try(mutant: Mutant, copies: "Queue[Path]", options: argparse.Namespace) -> str:
    """Put the fault into a free copy, run the tests, and take it out again."""
    copy = copies.get()
    path = copy / mutant.module
    original = path.read_text()
    try:
        _write_source(path, mutant.source)
        return _run_tests(copy, find_tests(mutant.module), options)
    finally:
        _write_source(path, original)
        copies.put(copy)


def _write_source(path: Path, source: str) -> None:
    path.write_text(source)
    # Compiled code is kept, because compiling everything takes longer than most tests; but not that of another source.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def _run_tests(copy: Path, tests: Sequence[str], options: argparse.Namespace) -> str:
    """Run the tests in turn until one fails; a mutant that makes them hang is noticed as well."""
    ends_at = time.monotonic() + options.seconds
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--basetemp", str(copy / "tmp")]
    command += [] if options.both else ["-k", "not postgresql"]
    process = subprocess.Popen(
        [*command, *dict.fromkeys(tests)],
        cwd=copy,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _running.add(process)
    try:
        code = process.wait(ends_at - time.monotonic())
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return TIMEOUT
    finally:
        _running.discard(process)
    return SURVIVED if code == 0 else KILLED


def _report(mutants: Sequence[Mutant], results: dict[str, dict[str, object]]) -> None:
    outcomes = {one.id: str(results[one.id]["outcome"]) for one in mutants}
    for module in sorted({one.module for one in mutants}):
        counts = Counter(outcomes[one.id] for one in mutants if one.module == module)
        noticed = counts[KILLED] + counts[TIMEOUT]
        print(f"{module:50} {noticed:4} of {counts.total():4} noticed ({counts[TIMEOUT]} by time)")
    counts = Counter(outcomes.values())
    print(f"\nkilled {counts[KILLED]}, timeouts {counts[TIMEOUT]}, survived {counts[SURVIVED]}")
    for one in mutants:
        if outcomes[one.id] == SURVIVED:
            print(f"  {one.id} (line {one.line})")


if __name__ == "__main__":
    sys.exit(main())
