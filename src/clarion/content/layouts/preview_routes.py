"""Layouts as they are in an editor: previews, and test e-mails."""

import asyncio
from functools import partial
from typing import Any

from msgspec import UNSET, Struct

from clarion.content.email.compose import LayoutSource
from clarion.content.environment import find_environment_content
from clarion.content.layouts import store
from clarion.content.layouts.model import VersionedLayout
from clarion.content.layouts.preview import render_layout
from clarion.content.layouts.validation import find_warnings
from clarion.content.layouts.wire import (
    LayoutPreviewIn,
    LayoutPreviewOut,
    LayoutPreviewPayload,
    LayoutPreviewResultOut,
    LayoutPreviewTextOut,
    LayoutTestEmailIn,
)
from clarion.content.translations.groups import ResourceType, Translated
from clarion.content.translations.known import find_texts
from clarion.errors import Invalid, Problem
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.ids import LayoutKey
from clarion.jsontext import plain_value
from clarion.preferences.unsubscribe.targets import make_sample_links
from clarion.templates.texts import NAME as TEXTS
from clarion.templates.texts import Texts, may_refer_to_texts
from clarion.vocabulary import Scope
from clarion.workflows import email_tests
from clarion.workflows.email_tests_wire import TestEmailOut
from clarion.workflows.issues import Issue
from clarion.workflows.step_wire import issues_out
from clarion.workflows.variables import describe_layout_variables

SECTION = "Layouts"


class _Rendered(Struct, frozen=True):
    """A layout around a box, or the reasons why it cannot be rendered."""

    layout: VersionedLayout
    source: LayoutSource | None
    html: str | None
    issues: list[Issue]
    variables: dict[str, Any]
    texts: Texts | None


@operation(
    "POST",
    "/v2/layouts/{layoutId}/preview",
    scope=Scope.WORKFLOWS_READ,
    status=201,
    body=LayoutPreviewIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
)
async def preview_layout(call: DetachedCall, layout_key: LayoutKey, body: LayoutPreviewIn) -> LayoutPreviewOut:
    """Render a layout around a box, with the saved body or the given one; a body that is broken is told of."""
    rendered = await _render(call, layout_key, body)
    source, html, issues, texts = rendered.source, rendered.html, rendered.issues, rendered.texts
    preview = UNSET if html is None else LayoutPreviewTextOut(body=html)
    return LayoutPreviewOut(
        result=LayoutPreviewResultOut(type="email", preview=preview),
        preview_payload_example=body.preview_payload or LayoutPreviewPayload(),
        schema=None if html is None else describe_layout_variables(),
        issues=issues_out(issues, [] if source is None or issues else find_warnings(source)),
        missing_texts=UNSET if texts is None else list(texts.missing) or UNSET,
    )


@operation(
    "POST",
    "/v2/layouts/{layoutId}/test-email",
    scope=Scope.WORKFLOWS_WRITE,
    also=(Scope.EVENTS_WRITE,),
    body=LayoutTestEmailIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
    refusals=(429,),
)
async def send_layout_test_email(call: DetachedCall, layout_key: LayoutKey, body: LayoutTestEmailIn) -> TestEmailOut:
    """Send a layout, as it is in an editor, around a box to the member who asks, or to the address of an API key.

    Its subject is the name of the layout, marked. Links to unsubscribe change nothing, and no person gets a message.
    """
    rendered = await _render(call, layout_key, body)
    to = email_tests.choose_address(call.caller, body.to)
    if rendered.html is None:
        problems = [Problem(issue.message) for issue in rendered.issues]
        raise Invalid({"controlValues.email.body": problems})
    content = {"subject": rendered.layout.layout.name, "body": rendered.html}
    integration = await email_tests.choose_integration(call, body.integration_id, rendered.variables)
    return await email_tests.send_test_email(call, content, integration, to)


async def _render(call: DetachedCall, layout_key: LayoutKey, body: LayoutPreviewIn) -> _Rendered:
    environment_id = call.caller.environment_id
    current = await call.database.read(partial(store.get_layout, environment_id=environment_id, reference=layout_key))
    source = current.version.source if body.control_values is None else body.control_values.source()
    variables, texts = await _variables_of(call, body.preview_payload or LayoutPreviewPayload()), None
    if source is not None and may_refer_to_texts(source.body):
        owner = Translated(environment_id, ResourceType.LAYOUT, current.layout.id)
        find = partial(find_texts, owner=owner, locale=variables["locale"])
        variables[TEXTS] = texts = await call.database.read(find)
    html, issues = await asyncio.to_thread(render_layout, source, variables)
    return _Rendered(current, source, html, issues, variables, texts)


async def _variables_of(call: DetachedCall, example: LayoutPreviewPayload) -> dict[str, Any]:
    """The variables that are given, and what the environment has."""
    content = await call.database.read(
        partial(find_environment_content, environment_id=call.caller.environment_id, vault=call.services.vault)
    )
    locale = example.subscriber.get("locale") or content.default_locale
    given_values: dict[str, Any] = plain_value(example)
    links = make_sample_links(call.services.settings.public_url, is_critical=False)
    return {"env": content.masked_env, "locale": locale} | links | given_values
