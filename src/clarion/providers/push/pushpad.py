"""Pushpad: one call for all browsers of a user."""

from clarion.jsontext import json_text
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty, path_part
from clarion.providers.definition.result import codes, json_id
from clarion.providers.push.message import Push
from clarion.secret import Secret


class PushpadCredentials(Credentials):
    api_key: Secret
    application_id: str
    """The id of the project."""

    @property
    def project(self) -> str:
        return f"https://pushpad.xyz/api/v1/projects/{path_part(self.application_id)}"


def request(account: PushpadCredentials, push: Push) -> ProviderRequest:
    notification = {
        "body": push.body,
        "title": push.title,
        "image_url": push.image,
        "custom_data": json_text({**push.data, "clarion_message_id": push.message_id}),
    }
    # Without `uids`, the notification would go to all subscribers of the project.
    body = {"notification": drop_empty(notification), "uids": list(push.tokens)}
    return ProviderRequest.json(f"{account.project}/notifications", body)


PROVIDER = PushProvider(
    id="pushpad",
    name="Pushpad",
    credentials=PushpadCredentials,
    auth=lambda account: {"Authorization": f'Token token="{account.api_key.reveal()}"', "Accept": "application/json"},
    request=request,
    sent=json_id("id"),
    # Accepted for nobody: none of these users has a subscribed browser.
    failures=(codes("scheduled", recipient_invalid=(0,)),),
    check=lambda account: ProviderRequest.get(account.project),
    casing=snake,
    without=frozenset({"badge", "sound"}),
    within="notification",
    documentation="https://pushpad.xyz/docs/rest_api",
    note="Device tokens are the `uid`s of people. Badges and sounds are not for browsers.",
)
