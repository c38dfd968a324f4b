"""JSON as texts and bytes, for the wire and for the store."""

from typing import Any

import msgspec


def encode_json(value: Any) -> bytes:
    """JSON as it goes over the wire."""
    return _encoder.encode(value)


def json_text(value: Any) -> str:
    """JSON as it is kept in the store."""
    return _encoder.encode(value).decode()


def json_value(text: str | None) -> Any:
    """What a JSON column holds; NULL is None."""
    return None if text is None else msgspec.json.decode(text)


def plain_value(value: Any) -> Any:
    """Shapes as dictionaries and lists under their wire names, without what is absent."""
    return msgspec.to_builtins(value, enc_hook=_plain_text)


def _plain_text(value: Any) -> str:
    # Texts with a rule are subclasses of str, which msgspec does not write by itself.
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError(type(value))


_encoder = msgspec.json.Encoder(enc_hook=_plain_text)
