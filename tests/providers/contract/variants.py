"""Golden requests of messages with overrides: what a trigger adds, where it stands in the provider's request.

`python -m tests.providers.contract.variants` writes them all. Review the difference against the provider's
documentation before you commit it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.providers.contract.case import Case
from tests.providers.contract.golden import FOLDER, record
from tests.providers.contract.table import CASES

VARIANTS_FOLDER = FOLDER / "variants"
_CASE_OF = {case.id: case for case in CASES}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A message of a provider's case with other fields."""

    name: str
    provider_id: str
    outgoing: Mapping[str, Any]

    @property
    def case(self) -> Case:
        case = _CASE_OF[self.provider_id]
        return replace(case, outgoing={**case.outgoing, **self.outgoing})

    @property
    def file(self) -> str:
        return f"{self.provider_id}.{self.name}.json"


VARIANTS = (
    # https://www.twilio.com/docs/sendgrid/for-developers/sending-email/personalizations
    Variant(
        name="template",
        provider_id="sendgrid",
        outgoing={
            "overrides": {
                "templateId": "d-12345678901234567890123456789012",
                "dynamicTemplateData": {"firstName": "Ada"},
                "customArgs": {"orderId": 7},
                "sendAt": 1767225700,
                "categories": ["orders"],
                "_passthrough": {"body": {"personalizations": [{"substitutions": {"-name-": "Ada"}}]}},
            }
        },
    ),
    Variant(
        name="custom-data",
        provider_id="sendgrid",
        outgoing={
            "overrides": {
                "customData": {"templateId": "d-1", "dynamicTemplateData": {"firstName": "Ada"}, "orderId": 7}
            }
        },
    ),
    # https://developers.brevo.com/reference/sendtransacemail
    Variant(
        name="custom-data",
        provider_id="sendinblue",
        outgoing={"overrides": {"customData": {"templateId": 7, "templateParams": {"firstName": "Ada"}}}},
    ),
    # https://developers.mailersend.com/api/v1/email.html
    Variant(
        name="custom-data",
        provider_id="mailersend",
        outgoing={
            "overrides": {
                "customData": {
                    "templateId": "k68zxl2",
                    "personalization": [{"email": "ada@example.org", "data": {"firstName": "Ada"}}],
                }
            }
        },
    ),
    Variant(
        name="overrides",
        provider_id="email-webhook",
        outgoing={
            "overrides": {
                "to": ["grace@example.org"],
                "subject": "Other",
                "html": "<p>Other</p>",
                "text": "Other text",
                "customData": {"orderId": 7},
            }
        },
    ),
    # https://www.twilio.com/docs/glossary/what-e164
    Variant(
        name="local-number",
        provider_id="twilio",
        outgoing={
            "phone": "020 7946 0000",
            "credentials": {**_CASE_OF["twilio"].credentials, "defaultRegion": "GB", "from": "MGM Grand"},
        },
    ),
    # https://www.braze.com/docs/api/objects_filters/messaging/email_object/
    Variant(name="plain", provider_id="braze", outgoing={"overrides": {}}),
    Variant(
        name="overrides",
        provider_id="generic-sms",
        outgoing={"overrides": {"to": "+442079460001", "content": "Other", "customData": {"orderId": 7}}},
    ),
)


async def _write() -> None:
    VARIANTS_FOLDER.mkdir(exist_ok=True)
    for variant in VARIANTS:
        (VARIANTS_FOLDER / variant.file).write_text(await record(variant.case))


if __name__ == "__main__":
    asyncio.run(_write())
