"""What must be true of every way to run Clarion: version, variables, commands, ports, privileges, probes."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion import __version__
from clarion.cli.commands import COMMANDS
from clarion.settings.model import Settings, known_settings
from clarion.settings.sources import CONFIG_VARIABLE
from tests.deploy import files

METRIC = "clarion_backlog_oldest_age_seconds"
GRACE = Settings().shutdown_grace_seconds


def settings_variables() -> set[str]:
    known = known_settings()
    with_files = {f"{one.variable}_FILE" for one in known if one.is_secret}
    return {one.variable for one in known} | with_files | {CONFIG_VARIABLE}


def test_every_variable_in_the_files_is_a_setting() -> None:
    used = set(files.used_variables())

    assert len(used) > 8
    assert used - settings_variables() == set()


def test_every_file_names_the_version_of_the_package() -> None:
    compose = files.read_compose()
    ours = ("migrate", "api", "worker")
    images = {compose["services"][name]["image"] for name in ours}
    (image,) = files.kustomization("core")["images"]

    assert __version__ == files.VERSION
    assert images == {f"clarion:{files.VERSION}"}
    assert image == {"name": "clarion", "newTag": files.VERSION}
    assert list(files.find_objects("Job")) == [f"clarion-migrate-{files.VERSION.replace('.', '-')}"]
    assert f'image.version="{files.VERSION}"' in files.DOCKERFILE.read_text()
    assert f"clarion:{files.VERSION} " in files.DOCKERFILE.read_text()
    assert re.search(rf"(?m)^## {re.escape(files.VERSION)} \(\d{{4}}-\d\d-\d\d\)$", files.CHANGELOG.read_text())


def test_every_command_in_the_files_exists() -> None:
    compose = files.read_compose()["services"]
    pods = files.pod_templates()
    units = [files.read_unit(path)["Service"]["ExecStart"][0] for path in files.UNITS]
    dockerfile = dict(files.read_dockerfile()[-1])

    assert {compose[name]["command"][0] for name in ("migrate", "api", "worker")} == {"migrate", "api", "worker"}
    assert {name: pod["containers"][0]["args"] for name, pod in pods.items()} == {name: [name] for name in pods}
    assert {unit.split()[1] for unit in units} == {"serve", "api", "worker", "migrate"}
    assert (dockerfile["ENTRYPOINT"], dockerfile["CMD"]) == ('["clarion"]', '["serve"]')
    assert {"serve", "api", "worker", "migrate"} <= set(COMMANDS)


def test_prometheus_reaches_the_metrics_of_every_service_of_the_compose_file() -> None:
    services = files.read_compose()["services"]
    config = yaml.safe_load((files.DEPLOY / "monitoring" / "prometheus.yml").read_text())
    (scraped,) = config["scrape_configs"][0]["dns_sd_configs"]
    mounted = [volume.partition(":")[0] for volume in services["prometheus"]["volumes"]]

    assert scraped["names"] == ["api", "worker"]
    for name in scraped["names"]:
        environment = services[name]["environment"]
        assert environment["CLARION_MONITOR_HOST"] == "0.0.0.0"
        assert environment["CLARION_MONITOR_PORT"] == str(scraped["port"])
        assert not [port for port in services[name].get("ports", []) if str(scraped["port"]) in port]
    assert all((files.COMPOSE.parent / one).resolve().exists() for one in mounted if one.startswith("."))
    assert config["rule_files"] == ["alerts.yml"]


def test_ports_agree() -> None:
    port = str(Settings().port)
    compose = files.read_compose()["services"]
    api, worker = (files.pod_templates()[name]["containers"][0] for name in ("api", "worker"))
    monitor = files.config_map()["CLARION_MONITOR_PORT"]

    assert dict(files.read_dockerfile()[-1])["EXPOSE"] == port
    assert compose["api"]["ports"] == [f"127.0.0.1:{port}-{int(port) + 1}:{port}"]
    assert f"127.0.0.1:{port}/" in compose["api"]["healthcheck"]["test"][-1]
    assert (
        f":{compose['worker']['environment']['CLARION_MONITOR_PORT']}/" in compose["worker"]["healthcheck"]["test"][-1]
    )
    assert {one["name"]: str(one["containerPort"]) for one in api["ports"]} == {"http": port, "metrics": monitor}
    assert {one["name"]: str(one["containerPort"]) for one in worker["ports"]} == {"metrics": monitor}
    for deployment in files.find_objects("Deployment").values():
        assert deployment["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == monitor


def test_the_image_runs_as_a_user_without_rights_and_has_no_build_tools() -> None:
    build, image = files.read_dockerfile()

    assert ("USER", "10001:10001") in image
    assert [name for name, _ in image].index("USER") > [name for name, _ in image].index("RUN")
    assert [arguments for name, arguments in image if name == "COPY"] == ["--from=build /opt/clarion /opt/clarion"]
    assert not any(word in arguments for name, arguments in image for word in ("pip", "apt", "npm") if name == "RUN")
    assert all("--require-hashes" in part for _, text in build for part in text.split("&&") if " -r " in part)
    assert files.image_healthcheck() == ["python", "-m", "clarion.healthcheck"]
    environ = files.image_environment()
    assert ("VOLUME", environ["CLARION_DATA_DIR"]) in image
    # Migrations of SQLite need temporary files, and without this variable a /tmp that can be written.
    assert environ["SQLITE_TMPDIR"] == environ["CLARION_DATA_DIR"]


def test_what_the_image_copies_is_in_the_context_and_nothing_else_is() -> None:
    allowed = {line[1:] for line in (files.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        source for name, arguments in files.read_dockerfile()[0] if name == "COPY" for source in arguments.split()[:-1]
    }

    assert copied == allowed
    assert [name for name in copied if not (files.ROOT / name).exists()] == []


@pytest.mark.parametrize("name", ["migrate", "api", "worker"])
def test_services_of_compose_are_read_only_and_start_after_the_migration(name: str) -> None:
    compose = files.read_compose()
    service = compose["services"][name]

    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["stop_grace_period"].removesuffix("s")) > int(
        service["environment"]["CLARION_SHUTDOWN_GRACE_SECONDS"]
    )
    mounted = {value for value in service["environment"].values() if value.startswith("/run/secrets/")}
    assert mounted == {f"/run/secrets/{secret}" for secret in service["secrets"]}
    assert set(service["secrets"]) <= set(compose["secrets"])
    if name == "migrate":
        assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    else:
        assert service["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
        assert service["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", ["api", "worker", "migrate"])
def test_pods_run_without_privileges(name: str) -> None:
    pod = files.pod_templates()[name]
    container = pod["containers"][0]

    assert pod["enableServiceLinks"] is False
    assert pod["automountServiceAccountToken"] is False
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts["data"] == files.image_environment()["CLARION_DATA_DIR"]
    secrets = [value for value in files.config_map().values() if value.startswith("/run/")]
    assert all(Path(value).parent == Path(mounts["secrets"]) for value in secrets)
    assert {volume["name"] for volume in pod["volumes"]} == set(mounts)


@pytest.mark.parametrize(("name", "port"), [("api", "http"), ("worker", "metrics")])
def test_pods_have_probes_a_disruption_budget_and_time_to_stop(name: str, port: str) -> None:
    pod = files.pod_templates()[name]
    container = pod["containers"][0]
    probes = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")}
    grace = int(files.config_map()["CLARION_SHUTDOWN_GRACE_SECONDS"])
    budget = files.find_objects("PodDisruptionBudget")[f"clarion-{name}"]["spec"]
    deployment = files.find_objects("Deployment")[f"clarion-{name}"]["spec"]

    assert probes == {
        "startup": {"path": "/live", "port": port},
        "liveness": {"path": "/live", "port": port},
        "readiness": {"path": "/ready", "port": port},
    }
    assert pod["terminationGracePeriodSeconds"] > grace + 5
    assert budget["selector"] == deployment["selector"]
    assert "replicas" not in deployment


def test_workers_are_scaled_by_the_age_of_the_backlog() -> None:
    autoscaler = files.find_objects("HorizontalPodAutoscaler")["clarion-worker"]["spec"]
    scaled = files.find_objects("ScaledObject")["clarion-worker"]["spec"]
    adapter = (files.KUBERNETES / "prometheus-adapter.yaml").read_text()

    assert [one["external"]["metric"]["name"] for one in autoscaler["metrics"]] == [METRIC]
    assert METRIC in scaled["triggers"][0]["metadata"]["query"]
    assert set(re.findall(r"clarion_\w+", adapter)) == {METRIC}
    for spec in (autoscaler, scaled):
        assert spec["scaleTargetRef"]["name"] in files.find_objects("Deployment")
    assert (autoscaler["minReplicas"], scaled["minReplicaCount"]) == (2, 2)


def test_kustomizations_list_every_file() -> None:
    for name in ("core", "base", "keda"):
        folder = files.KUBERNETES / name
        listed = {(folder / one).resolve() for one in files.kustomization(name)["resources"]}
        own = {path for path in folder.glob("*.yaml") if path.name != "kustomization.yaml"}
        assert listed == own if name == "core" else listed == own | {files.KUBERNETES / "core"}


@pytest.mark.parametrize("path", files.UNITS, ids=lambda path: path.name)
def test_units_are_confined_and_read_the_configuration_file(path: Path) -> None:
    unit: Any = files.read_unit(path)["Service"]

    for name, value in {
        "DynamicUser": "yes",
        "ProtectSystem": "strict",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "StateDirectory": "clarion",
        "LoadCredential": "clarion.toml:/etc/clarion/clarion.toml",
    }.items():
        assert unit[name] == [value]
    assert "CLARION_CONFIG=%d/clarion.toml" in unit["Environment"]
    if unit["Type"] == ["exec"]:
        assert int(unit["TimeoutStopSec"][0]) > GRACE
        assert unit["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
        assert unit["RestartPreventExitStatus"] == ["2"]


def test_the_example_of_a_configuration_file_has_only_settings() -> None:
    text = (files.DEPLOY / "systemd" / "clarion.toml").read_text()
    with_comments = "\n".join(line.removeprefix("# ") for line in text.splitlines() if re.match(r"(# )?\w+ = ", line))

    names = {one.name for one in known_settings()}
    assert set(tomllib.loads(text)) <= names
    assert set(tomllib.loads(with_comments)) <= names
    assert len(tomllib.loads(with_comments)) >= 4
