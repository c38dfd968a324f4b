"""The registry has the providers of the API, each with its tests."""

import statistics
from pathlib import Path

import pytest
from msgspec.structs import fields

from clarion.integrations.wire import IntegrationCredentials
from clarion.providers.definition.provider import HttpProvider, find_credential_problems
from clarion.providers.overview import describe_providers, with_overrides
from clarion.providers.registry import PROVIDERS, find_provider
from clarion.vocabulary import Channel, ChannelProvider
from tests.providers.contract.case import REQUIRED_FAULTS
from tests.providers.contract.golden import FOLDER
from tests.providers.contract.smtp_cases import SMTP_CASES, SMTP_FAULTS
from tests.providers.contract.table import CASES

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "clarion" / "providers"

# The "Job/execution provider values" of the API, by channel.
IN_APP = {"svc"}
EMAIL = {
    *("emailjs", "mailgun", "mailjet", "mandrill", "nodemailer", "postmark", "sendgrid", "sendinblue", "ses"),
    *("netcore", "infobip-email", "resend", "plunk", "mailersend", "mailtrap", "outlook365", "svc-email"),
    *("sparkpost", "email-webhook", "braze"),
}
SMS = {
    *("clickatell", "nexmo", "plivo", "sms77", "sms-central", "sns", "telnyx", "twilio", "gupshup", "firetext"),
    *("infobip-sms", "burst-sms", "bulk-sms", "isend-sms", "forty-six-elks", "kannel", "maqsam", "termii"),
    *("africas-talking", "svc-sms", "sendchamp", "generic-sms", "clicksend", "bandwidth", "messagebird"),
    *("simpletexting", "azure-sms", "ring-central", "brevo-sms", "eazy-sms", "mobishastra", "afro-message"),
}
PUSH = {"fcm", "apns", "expo", "one-signal", "pushpad", "push-webhook", "pusher-beams"}
CHAT = {
    *("slack", "discord", "msteams", "mattermost", "ryver", "zulip", "grafana-on-call", "getstream", "rocket-chat"),
    *("whatsapp-business", "chat-webhook", "telegram", "webex-messaging", "line"),
}
TOOL = {"pagerduty", "opsgenie", "grafana", "tool-webhook"}
GENERATE = "python -m clarion.providers.overview docs/providers.md docs/coming-from-novu.md"


def ids_of(channel: Channel) -> set[str]:
    return {provider_id for provider_id, provider in PROVIDERS.items() if provider.channel is channel}


def test_the_registry_has_exactly_the_providers_of_the_contract() -> None:
    assert ids_of(Channel.IN_APP) == IN_APP
    assert ids_of(Channel.EMAIL) == EMAIL
    assert ids_of(Channel.SMS) == SMS
    assert ids_of(Channel.PUSH) == PUSH
    assert ids_of(Channel.CHAT) == CHAT
    assert ids_of(Channel.TOOL) == TOOL
    assert len(PROVIDERS) == 78


def test_subscribers_have_credentials_only_for_chat_and_push_providers() -> None:
    assert {str(one) for one in ChannelProvider} == PUSH | CHAT


def test_every_credential_is_a_field_of_the_api() -> None:
    known = set(IntegrationCredentials.__struct_encode_fields__)

    assert {one.encode_name for provider in PROVIDERS.values() for one in fields(provider.credentials)} <= known


def test_no_two_providers_of_a_channel_have_the_same_name() -> None:
    assert len({(one.channel, one.name) for one in PROVIDERS.values()}) == len(PROVIDERS)


def test_built_in_providers_need_no_credentials() -> None:
    assert [PROVIDERS[name].required for name in ("svc", "svc-email", "svc-sms")] == [(), (), ()]


def test_an_unknown_provider_is_not_found() -> None:
    assert find_provider("carrier-pigeon") is None


# The providers that make calls, unlike the built-in ones.
ABLE = sorted(set(PROVIDERS) - {"svc", "svc-email", "svc-sms"})
WEB_CASES = {case.id: case for case in CASES}
LETTERS = {case.id for case in SMTP_CASES}


@pytest.mark.parametrize("provider_id", ABLE)
def test_every_provider_has_its_own_module_and_names_its_documentation(provider_id: str) -> None:
    provider = PROVIDERS[provider_id]
    path = SOURCES / provider.channel / f"{provider_id.replace('-', '_')}.py"

    assert path.exists()
    assert provider.documentation


@pytest.mark.parametrize("provider_id", ABLE)
def test_every_provider_has_a_golden_request(provider_id: str) -> None:
    assert (FOLDER / f"{provider_id}.json").exists()


@pytest.mark.parametrize("provider_id", ABLE)
def test_every_provider_has_cases_for_faults_and_receipts(provider_id: str) -> None:
    provider = PROVIDERS[provider_id]
    if not isinstance(provider, HttpProvider):
        assert provider_id in LETTERS
        assert set(SMTP_FAULTS) >= REQUIRED_FAULTS | {"time-out", "reset", "malformed"}
        return
    case = WEB_CASES[provider_id]
    assert set(case.faults) >= REQUIRED_FAULTS
    assert case.faults["429"].retry_after is not None
    assert bool(case.reports) == (provider.receipts is not None)


@pytest.mark.parametrize("provider_id", ABLE)
def test_every_case_has_valid_credentials(provider_id: str) -> None:
    letters = {case.id: case.credentials for case in SMTP_CASES}
    credentials = letters[provider_id] if provider_id in letters else WEB_CASES[provider_id].credentials

    assert find_credential_problems(PROVIDERS[provider_id], credentials) == {}


def test_every_golden_request_belongs_to_a_provider() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(ABLE)


def test_the_page_about_providers_is_current() -> None:
    page = ROOT / "docs" / "providers.md"

    assert page.read_text() == describe_providers(), f"run `{GENERATE}`"


def test_the_overrides_on_the_page_for_people_who_come_from_elsewhere_are_current() -> None:
    page = (ROOT / "docs" / "coming-from-novu.md").read_text()

    assert page == with_overrides(page), f"run `{GENERATE}`"
    assert "sendgrid" in page


def test_half_of_the_providers_have_seventy_lines_at_most() -> None:
    files = [SOURCES / PROVIDERS[one].channel / f"{one.replace('-', '_')}.py" for one in ABLE]

    assert statistics.median(len(path.read_text().splitlines()) for path in files) <= 70
