"""`make dist-check`: installs what `make dist` built, and runs it as the image and compose.yaml do, without Docker."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.deploy import files
from tests.deploy.installation import install
from tests.servers import postgres_server

NOBODY = 65534
SECONDS = 30


def main(folder: Path) -> None:
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        # Another user runs the service, and must reach the environment.
        temporary.chmod(0o755)
        check_sdist(sdist, wheel, temporary)
        say("The sdist builds the same wheel, without Node.js and without a network.")
        python = install(wheel, temporary / "venv")
        user = check_alone(python, temporary)
        say(
            f"`pip install` of the wheel is enough: `clarion serve` runs as {user} and writes to its data folder alone."
        )
        check_composition(python, temporary)
        say("The services of compose.yaml start with its environment and secrets, are healthy, and deliver a message.")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check_sdist(sdist: Path, wheel: Path, temporary: Path) -> None:
    target = temporary / "rebuilt"
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(target)]
    # A build of the files for browsers would fail with this Node.js.
    environ = os.environ | {"NODE": "/bin/false", "PIP_NO_INDEX": "1"}
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(sdist)], check=True, env=environ)
    assert contents(target / wheel.name) == contents(wheel)
    assert {"clarion/web/files/inbox.js", "clarion/web/files/dashboard/index.html"} <= set(contents(wheel))


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist()}


def check_alone(python: Path, temporary: Path) -> str:
    """Run `clarion serve` as the image does: as a user who can write to the data folder and to nothing else."""
    data = temporary / "data"
    data.mkdir(mode=0o700)
    user = choose_user(python)
    if user is not None:
        os.chown(data, user, user)
    before = list_files(python.parents[1])
    environ = image_environ(python, data) | {"CLARION_PORT": "0"}
    with started(python, ["serve"], environ, user=user) as address:
        assert fetch(f"{address}/v1/health-check") == 200
        assert fetch(f"{address}/inbox.js") == 200
        assert fetch(f"{address}/dashboard/") == 200
        assert fetch(f"{address}/docs") == 200
        port = address.rpartition(":")[2]
        subprocess.run(files.image_healthcheck(), env=environ | {"CLARION_PORT": port}, check=True, timeout=SECONDS)
    assert (data / "encryption.keys").exists()
    assert list_files(python.parents[1]) == before
    return "this user" if user is None else "another user"


def choose_user(python: Path) -> int | None:
    """Another user, if this one is root and the other may run its Python."""
    if os.getuid() != 0:
        return None
    with suppress(PermissionError):
        done = subprocess.run([python, "-c", ""], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", check=False)
        return NOBODY if done.returncode == 0 else None
    return None


def check_composition(python: Path, temporary: Path) -> None:
    """Run the services of compose.yaml in their order, on a real PostgreSQL, and send a message through them."""
    folder = temporary / "compose"
    folder.mkdir()
    script = shutil.copy(files.DEPLOY / "docker" / "make-secrets", folder)
    subprocess.run([script], check=True, stdout=subprocess.DEVNULL)
    secrets = folder / "secrets"
    with postgres_server(temporary / "postgres") as server:
        (secrets / "database_url").unlink()
        (secrets / "database_url").write_text(server.url)
        services = files.read_compose()["services"]
        migrate = [str(python.with_name("clarion")), *services["migrate"]["command"]]
        subprocess.run(migrate, env=service_environ("migrate", python, folder), check=True, stdout=subprocess.DEVNULL)
        with (
            service("api", python, folder) as first,
            service("api", python, folder) as second,
            service("worker", python, folder),
            service("worker", python, folder),
        ):
            deliver(first, second, (secrets / "production_api_key").read_text().strip())


@contextmanager
def service(name: str, python: Path, folder: Path) -> Iterator[str]:
    """Run one container of a service until its health check passes; its ports are free ones."""
    test = files.read_compose()["services"][name]["healthcheck"]["test"][1:]
    environ = service_environ(name, python, folder)
    with started(python, files.read_compose()["services"][name]["command"], environ) as address:
        base = address if name == "api" else f"http://127.0.0.1:{environ['CLARION_MONITOR_PORT']}"
        check = [*test[:-1], base + re.sub(r"^http://[^/]+", "", test[-1])]
        wait_until_passes(check, environ)
        yield address


def service_environ(name: str, python: Path, folder: Path) -> dict[str, str]:
    given: dict[str, str] = files.read_compose()["services"][name]["environment"]
    placed = {one: value.replace("/run/secrets", str(folder / "secrets")) for one, value in given.items()}
    if "CLARION_MONITOR_PORT" in given:
        placed["CLARION_MONITOR_PORT"] = str(free_port())
    return image_environ(python, folder / "data") | placed | {"CLARION_PORT": "0"}


def image_environ(python: Path, data: Path) -> dict[str, str]:
    """The variables of the image, and none of this process but for the language."""
    placed = {name: value.replace("/data", str(data)) for name, value in files.image_environment().items()}
    return placed | {"PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


@contextmanager
def started(python: Path, arguments: list[str], environ: Mapping[str, str], user: int | None = None) -> Iterator[str]:
    """Run `clarion`, yield the address that it logs, and end it in order; its log is shown if that fails."""
    as_user: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    command = [str(python.with_name("clarion")), *arguments]
    with tempfile.NamedTemporaryFile("w+") as log:
        process = subprocess.Popen(
            command,
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            **as_user,
        )
        try:
            yield wait_for_address(Path(log.name), process)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=SECONDS) == 0
        except BaseException:
            log.seek(0)
            sys.stderr.write(f"{command}:\n{log.read()}")
            raise
        finally:
            process.kill()
            process.wait()


def wait_for_address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait for the line of the log that says that the process has started; a worker has no address."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if '"Started"' in line:
                return str(json.loads(line).get("address", ""))
        time.sleep(0.1)
    raise AssertionError("it did not start")


def deliver(api: str, other_api: str, key: str) -> None:
    """Send a message through one API, and find it through the other after a worker has made it."""
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{payload.name}}"}}
    call(api, key, "/v2/workflows", {"name": "Hello", "workflowId": "hello", "active": True, "steps": [step]})
    call(api, key, "/v1/events/trigger", {"name": "hello", "to": "ada", "payload": {"name": "Ada"}})
    deadline = time.monotonic() + SECONDS
    while not (found := call(other_api, key, "/v1/messages?subscriberId=ada")["data"]):
        assert time.monotonic() < deadline, "no worker made the message"
        time.sleep(0.1)
    assert found[0]["content"] == "Hello Ada"


def call(address: str, key: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    headers = {"Authorization": f"ApiKey {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=SECONDS) as response:
        return json.load(response)


def fetch(url: str) -> int:
    with urllib.request.urlopen(url, timeout=SECONDS) as response:
        status: int = response.status
        return status


def wait_until_passes(command: list[str], environ: Mapping[str, str]) -> None:
    deadline = time.monotonic() + SECONDS
    while subprocess.run(command, env=environ, check=False, stderr=subprocess.DEVNULL, timeout=SECONDS).returncode:
        assert time.monotonic() < deadline, f"{command} does not pass"
        time.sleep(0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def list_files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
