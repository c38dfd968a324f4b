"""JSON for the API and for the database."""

from typing import Any

import msgspec


def encode_json(value: Any) -> bytes:
    """JSON bytes, as the API sends them."""
    return _encoder.encode(value)


def json_text(value: Any) -> str:
    """JSON text, as the database stores it."""
    return _encoder.encode(value).decode()


def json_value(text: str | None) -> Any:
    """Decode a JSON column; NULL is None."""
    return None if text is None else msgspec.json.decode(text)


def plain_value(value: Any) -> Any:
    """Convert wire shapes to dictionaries and lists, under their wire names and without absent fields."""
    return msgspec.to_builtins(value, enc_hook=_plain_text)


def _plain_text(value: Any) -> str:
    # msgspec does not encode subclasses of str, such as CheckedText, by itself.
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError(type(value))


_encoder = msgspec.json.Encoder(enc_hook=_plain_text)
