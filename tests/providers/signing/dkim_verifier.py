"""A verifier of DKIM signatures with relaxed canonicalization, written after RFC 6376 and RFC 8463.

It shares no code with the library that signs.
"""

import base64
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256

PublicKey = RSAPublicKey | Ed25519PublicKey


def is_signed(content: bytes, public_key: PublicKey) -> bool:
    """Return whether the first DKIM-Signature of an e-mail covers its body and the headers that it names."""
    fields, body = _split(content)
    signature = next(value for name, value in fields if name == b"dkim-signature")
    tags = read_tags(signature)
    if tags["c"] != "relaxed/relaxed" or tags["bh"] != _base64(hashlib.sha256(_relax_body(body)).digest()):
        return False
    signed = [_relax(name, value) + b"\r\n" for name, value in _select(fields, tags["h"].split(":"))]
    # The signature signs itself without its value, and without a line break at its end.
    unsigned = re.sub(rb"(\bb=)[^;]*", rb"\1", signature)
    digest = hashlib.sha256(b"".join(signed) + _relax(b"dkim-signature", unsigned)).digest()
    return _is_valid(public_key, base64.b64decode(tags["b"]), digest, tags["a"])


def read_tags(signature: bytes) -> dict[str, str]:
    text = re.sub(rb"\s", b"", signature).decode()
    return {name: value for name, _, value in (one.partition("=") for one in text.split(";") if one)}


def find_signature(content: bytes) -> bytes:
    return next(value for name, value in _split(content)[0] if name == b"dkim-signature")


def _is_valid(key: PublicKey, signature: bytes, digest: bytes, algorithm: str) -> bool:
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, digest)
            return algorithm == "ed25519-sha256"
        key.verify(signature, digest, PKCS1v15(), Prehashed(SHA256()))
    except InvalidSignature:
        return False
    return algorithm == "rsa-sha256"


def _split(content: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    head, _, body = content.partition(b"\r\n\r\n")
    lines = re.split(rb"\r\n(?![ \t])", head)
    return [(name.strip().lower(), value) for name, _, value in (line.partition(b":") for line in lines)], body


def _select(fields: list[tuple[bytes, bytes]], names: list[str]) -> list[tuple[bytes, bytes]]:
    """Take fields of the same name from the bottom up; names beyond the last one stand for nothing."""
    left, found = list(fields), []
    for name in names:
        for index in reversed(range(len(left))):
            if left[index][0].decode() == name.lower():
                found.append(left.pop(index))
                break
    return found


def _relax(name: bytes, value: bytes) -> bytes:
    return name + b":" + re.sub(rb"[ \t]+", b" ", value.replace(b"\r\n", b"")).strip(b" \t")


def _relax_body(body: bytes) -> bytes:
    lines = [re.sub(rb"[ \t]+", b" ", line).rstrip(b" ") for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
