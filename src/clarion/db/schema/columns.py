"""The kinds of columns that tables are made of."""

from sqlalchemy import BigInteger, Boolean, Column, LargeBinary, MetaData, Text
from sqlalchemy.dialects.postgresql import BYTEA, UUID

metadata = MetaData()

Id = LargeBinary(16).with_variant(UUID(), "postgresql")
Digest = LargeBinary(16).with_variant(BYTEA(), "postgresql")
Hash = LargeBinary(32).with_variant(BYTEA(), "postgresql")
FULL_NAME = "TRIM(COALESCE(first_name, '') || ' ' || COALESCE(last_name, ''))"


def id_(name: str, *, key: bool = False, optional: bool = False) -> Column[bytes]:
    return Column(name, Id, primary_key=key, nullable=optional)


def text_(name: str, *, key: bool = False, optional: bool = False, default: str | None = None) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=optional, server_default=default)


def moment(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)
