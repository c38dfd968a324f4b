"""Masks the channel credentials of people: device tokens, and URLs of chat webhooks.

With one of them anybody can send to the person. The fields that hold them are typed so: `DeviceToken`, `SecretUrl`.
They also appear in free JSON (overrides of triggers, what explains an execution detail, exports), so the encoded
answer is masked, by the names of these fields.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from clarion.http.description.schemas import list_inner, list_structs
from clarion.http.responses import Response
from clarion.http.wire import SECRET, SecretForm
from clarion.jsontext import encode_json

_FREE_NAMES = {"device_tokens": SecretForm.TOKEN, "tokens": SecretForm.TOKEN, "webhook_url": SecretForm.URL}
"""Other names of these fields in free JSON: in overrides for single providers, and in exports."""
_SHOWN_OF_TOKEN = 4
_MIN_SHOWN_LENGTH = 16
"""Of shorter tokens nothing is shown."""


class CredentialMask:
    """Masks members of answers by the names of the secret fields of all shapes."""

    def __init__(self, shapes: Iterable[Any]) -> None:
        self._forms = _find_all_names(tuple(shapes)) | _FREE_NAMES
        self._names = re.compile("|".join(sorted(self._forms)))
        self._names_in_body = re.compile(self._names.pattern.encode())

    def applies(self, response: Response) -> bool:
        return self._names_in_body.search(response.body) is not None

    def mask(self, response: Response) -> Response:
        """Return the answer with masked credentials; one that is no JSON has none, and stays as it is."""
        try:
            value = msgspec.json.decode(response.body)
        except msgspec.DecodeError:
            return response
        return replace(response, body=encode_json(self._mask(value)))

    def _mask(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._mask_member(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._mask(inner) for inner in value]
        return self._mask_text(value) if isinstance(value, str) else value

    def _mask_member(self, name: str, value: Any) -> Any:
        form = self._forms.get(name)
        if form is None:
            return self._mask(value)
        if isinstance(value, list):
            return [_mask_secret(form, inner) if isinstance(inner, str) else self._mask(inner) for inner in value]
        return _mask_secret(form, value) if isinstance(value, str) else self._mask(value)

    def _mask_text(self, text: str) -> str:
        """Mask JSON in a text, such as the values that explain an execution detail."""
        if text[:1] not in ("{", "[") or self._names.search(text) is None:
            return text
        try:
            return encode_json(self._mask(msgspec.json.decode(text))).decode()
        except msgspec.DecodeError:
            return text


def find_secret_names(shapes: Iterable[Any]) -> dict[str, SecretForm]:
    """The names of the secret fields of shapes, and how each is masked."""
    fields = [field for struct in list_structs(shapes) for field in struct.fields]
    forms = {field.encode_name: _find_form(field.type) for field in fields}
    return {name: form for name, form in forms.items() if form is not None}


_find_all_names = cache(find_secret_names)
"""Looks at hundreds of shapes, which are the same for all applications of a process."""


def mask_url(url: str) -> str:
    """The URL without what may be secret in it: its host alone."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "…"
    return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else "…"


def _find_form(info: inspect.Type) -> SecretForm | None:
    if isinstance(info, inspect.StructType):
        return None
    extra: Mapping[str, Any] = (info.extra or {}) if isinstance(info, inspect.Metadata) else {}
    if SECRET in extra:
        return SecretForm(extra[SECRET])
    return next((form for inner in list_inner(info) if (form := _find_form(inner)) is not None), None)


def _mask_secret(form: SecretForm, text: str) -> str:
    if form is SecretForm.URL:
        return mask_url(text)
    return f"…{text[-_SHOWN_OF_TOKEN:]}" if len(text) >= _MIN_SHOWN_LENGTH else "…"
