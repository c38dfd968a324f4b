"""Settings: working defaults, and clear messages for values that are not valid."""

from pathlib import Path

import pytest

from clarion.environments.options import DataKind
from clarion.errors import SettingsError
from clarion.settings.addresses import parse_mail_url
from clarion.settings.model import Settings
from clarion.settings.retention import DEFAULT_DAYS
from clarion.vocabulary import Role


def test_the_defaults_work_on_a_laptop() -> None:
    settings = Settings.load({})

    assert (settings.host, settings.port) == ("127.0.0.1", 3000)
    assert settings.data_dir == Path("clarion-data")
    assert settings.database_url is None


def test_variables_are_read_and_options_override_them() -> None:
    environ = {"CLARION_PORT": "4000", "CLARION_HOST": "0.0.0.0", "CLARION_CORS_ORIGINS": "https://a.example, *"}
    settings = Settings.load(environ, port="5000", data_dir=None)

    assert (settings.host, settings.port) == ("0.0.0.0", 5000)
    assert settings.cors_origins == ("https://a.example", "*")


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.load({"CLARION_PORT": "", "CLARION_DATABASE_URL": ""}).database_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLARION_PORT", "http"),
        ("CLARION_PORT", "70000"),
        ("CLARION_PORT", "-1"),
        ("CLARION_HOST", "not a host"),
        ("CLARION_DEMO", "maybe"),
        ("CLARION_DATABASE_URL", "mysql://localhost/x"),
        ("CLARION_DATABASE_URL", "postgresql://localhost:port/x"),
        ("CLARION_DATABASE_POOL_SIZE", "0"),
        ("CLARION_MAX_CONNECTIONS", "0"),
        ("CLARION_HEADER_TIMEOUT_SECONDS", "0"),
        ("CLARION_IDLE_TIMEOUT_SECONDS", "100000"),
        ("CLARION_BUILTIN_NAME", "Has Spaces"),
        ("CLARION_LOG_LEVEL", "loud"),
        ("CLARION_LOG_FORMAT", "xml"),
        ("CLARION_DEVELOPMENT_API_KEY", "short"),
        ("CLARION_PRODUCTION_APP_ID", "has space"),
        ("CLARION_CORS_ORIGINS", "example.com"),
        ("CLARION_PUBLIC_URL", "api.example.com"),
        ("CLARION_PUBLIC_URL", "ftp://api.example.com"),
        ("CLARION_PUBLIC_URL", "https://api.example.com/?x=1"),
        ("CLARION_PUBLIC_URL", "https://user:hunter2@api.example.com"),
        ("CLARION_PUBLIC_URL", "https://api.example.com:port"),
        ("CLARION_EGRESS_ALLOW", "10.0.0.0/33"),
        ("CLARION_EGRESS_ALLOW", "10.0.0.1/8"),
        ("CLARION_EGRESS_ALLOW", "127.0.0.0/8, localhost"),
        ("CLARION_RETENTION", "runs"),
        ("CLARION_RETENTION", "runs=0"),
        ("CLARION_RETENTION", "runs=40000"),
        ("CLARION_RETENTION", "everything=3"),
        ("CLARION_RETENTION", "runs=30,webhooks=4"),
    ],
)
def test_a_value_that_is_not_valid_is_refused_with_the_name_of_its_setting(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as refusal:
        Settings.load({name: value})

    assert str(refusal.value).endswith(".")


PROVIDER = {"CLARION_OIDC_ISSUER": "https://id.example.com", "CLARION_OIDC_CLIENT_ID": "clarion"}


def test_a_provider_of_identities_is_read_with_the_roles_of_domains() -> None:
    domains = {"CLARION_OIDC_DOMAINS": "Example.com=viewer, ops.example.com=admin"}
    settings = Settings.load(PROVIDER | domains | {"CLARION_PASSWORDS": "off"})

    assert settings.oidc_domains == (("example.com", Role.VIEWER), ("ops.example.com", Role.ADMIN))
    assert not settings.passwords


@pytest.mark.parametrize(
    ("name", "environ"),
    [
        ("CLARION_PASSWORDS", {"CLARION_PASSWORDS": "off"}),
        ("CLARION_OIDC_CLIENT_ID", {"CLARION_OIDC_CLIENT_ID": "clarion"}),
        ("CLARION_OIDC_CLIENT_ID", {"CLARION_OIDC_ISSUER": "https://id.example.com"}),
        ("CLARION_OIDC_ISSUER", PROVIDER | {"CLARION_OIDC_ISSUER": "http://id.example.com"}),
        ("CLARION_OIDC_REDIRECT", PROVIDER | {"CLARION_OIDC_REDIRECT": "callback"}),
        ("CLARION_OIDC_DOMAINS", PROVIDER | {"CLARION_OIDC_DOMAINS": "example.com=king"}),
        ("CLARION_OIDC_DOMAINS", PROVIDER | {"CLARION_OIDC_DOMAINS": "*=viewer"}),
        ("CLARION_OIDC_TRUST_ADDRESSES", PROVIDER | {"CLARION_OIDC_TRUST_ADDRESSES": "https://other.example.com"}),
        ("CLARION_OIDC_TRUST_ADDRESSES", PROVIDER | {"CLARION_OIDC_TRUST_ADDRESSES": "on"}),
    ],
)
def test_ways_to_sign_in_that_cannot_work_are_refused(name: str, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.load(environ)


def test_the_repr_of_a_secret_does_not_show_it() -> None:
    settings = Settings.load({"CLARION_DATABASE_URL": "postgresql://u:hunter2@localhost/x"})

    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(settings.database_url)
    with pytest.raises(SettingsError) as refusal:
        Settings.load({"CLARION_DATABASE_URL": "mysql://u:hunter2@localhost/x"})
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("environ", "serves_demo"),
    [
        ({}, True),
        ({"CLARION_HOST": "localhost"}, True),
        ({"CLARION_HOST": "::1"}, True),
        ({"CLARION_HOST": "0.0.0.0"}, False),
        ({"CLARION_HOST": "0.0.0.0", "CLARION_DEMO": "on"}, True),
        ({"CLARION_DEMO": "off"}, False),
        ({"CLARION_PUBLIC_URL": "https://api.example.com"}, False),
    ],
)
def test_the_demo_is_served_on_a_laptop_only_unless_asked_for(environ: dict[str, str], serves_demo: bool) -> None:
    assert Settings.load(environ).serves_demo is serves_demo


@pytest.mark.parametrize("url", ["redis://localhost", "nats://", "nats://host:port", "nonsense"])
def test_a_bus_that_is_not_nats_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(SettingsError, match=r"CLARION_BUS_URL must be nats://") as refused:
        Settings.load({"CLARION_BUS_URL": url, "CLARION_DATABASE_URL": "postgresql://localhost/x"})

    assert url not in str(refused.value) or url == "nats://"


def test_a_bus_needs_postgresql() -> None:
    with pytest.raises(SettingsError, match="needs CLARION_DATABASE_URL"):
        Settings.load({"CLARION_BUS_URL": "nats://localhost:4222"})


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://smtp.example.com?from=a@example.com", ("smtp.example.com", 587, "", "", False, "")),
        ("smtps://u%40x:p%2Fw@10.0.0.1?from=a@example.com", ("10.0.0.1", 465, "u@x", "p/w", True, "")),
        ("smtp://localhost:25/?from=The%20Team%20<a@example.com>", ("localhost", 25, "", "", False, "The Team")),
    ],
)
def test_the_server_for_mails_to_members_is_read(url: str, server: tuple[str, int, str, str, bool, str]) -> None:
    settings = Settings.load({"CLARION_MAIL_URL": url})

    assert settings.mail_url is not None
    read = parse_mail_url(settings.mail_url)
    found = (read.host, read.port, read.user, read.password.reveal(), read.implicit_tls, read.sender_name)
    assert (found, read.sender) == (server, "a@example.com")


@pytest.mark.parametrize(
    "url",
    [
        "http://canary:canary@host?from=a@example.com",
        "smtp://canary:canary@?from=a@example.com",
        "smtp://canary:canary@host:port?from=a@example.com",
        "smtp://canary:canary@host/path?from=a@example.com",
        "smtp://canary:canary@host?from=a@example.com&tls=off",
        "smtp://canary:canary@host",
        "smtp://canary:canary@host?from=nobody",
        "smtp://canary:canary@host?from=a@example.com%0ABcc:b@example.com",
    ],
)
def test_another_server_for_mails_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(SettingsError, match="CLARION_MAIL_URL must") as refused:
        Settings.load({"CLARION_MAIL_URL": url})

    assert "canary" not in str(refused.value)


def test_retention_names_some_kinds_and_leaves_the_others_as_they_are() -> None:
    settings = Settings.load({"CLARION_RETENTION": "runs=7, audit=30"})

    assert settings.retention_days == DEFAULT_DAYS | {"runs": 7, "audit": 30}


def test_every_kind_of_data_has_a_retention() -> None:
    assert set(DEFAULT_DAYS) == set(DataKind)
