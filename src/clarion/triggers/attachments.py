"""Files that triggers attach to e-mails: stored once, by hash, for as long as a run needs them.

An attachment in the payload or in overrides is `{"file": "<base64>", "name": …, "mime": …}`. Larger files are taken out
when the trigger is accepted: what is stored has `fileHash` and `fileLength` instead of `file`, and the sender puts them
back. All files of a trigger together must not be too large.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from clarion.clock import MINUTE, SECOND, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import Insert, sql
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, TriggerId

MIN_LENGTH = 1024
"""Shorter files stay in the overrides."""

FIRST_CHECK = Millis(30 * SECOND)
LAST_USE = Millis(MINUTE)
"""A file is kept for this long after a trigger attached it: the transaction that does so may not be seen yet."""
MAX_PAUSE = Millis(10 * MINUTE)
_CHECKED_TOGETHER = 100
_DELETED_TOGETHER = 20

Files = dict[str, str]
"""Contents by hash."""

ATTACHMENTS = Insert(
    "attachments",
    *("environment_id", "hash", "content", "used_at"),
    on_conflict="ON CONFLICT (environment_id, hash) DO UPDATE SET used_at = excluded.used_at",
)
TRIGGER_ATTACHMENTS = Insert("trigger_attachments", *("environment_id", "trigger_id", "hash", "check_at"))
LIST_HASHES = sql("""
    SELECT DISTINCT hash FROM trigger_attachments
    WHERE environment_id = :environment_id AND trigger_id {any:trigger_ids}
""")
LIST_FILES = sql("SELECT hash, content FROM attachments WHERE environment_id = :environment_id AND hash {any:hashes}")
LIST_TO_CHECK = sql("""
    SELECT environment_id, trigger_id FROM trigger_attachments WHERE check_at <= :now ORDER BY check_at LIMIT :limit
""")
# A run needs them while it is under way, while one of its messages can be redriven, and while the window is open in
# which it was merged: it goes on if those before it are canceled.
_UNFINISHED = "IN ('pending', 'queued', 'delayed', 'running')"
LIST_NEEDING = sql(f"""
    SELECT t.id FROM triggers AS t WHERE t.environment_id = :environment_id AND t.id {{any:trigger_ids}} AND (
        t.state IN ('scheduled', 'queued', 'splitting', 'canceling')
        OR EXISTS (
            SELECT 1 FROM trigger_parts AS p WHERE p.environment_id = t.environment_id AND p.trigger_id = t.id
        )
        OR EXISTS (
            SELECT 1 FROM notifications AS n
            JOIN jobs AS j ON j.environment_id = n.environment_id AND j.notification_id = n.id
            WHERE n.environment_id = t.environment_id AND n.trigger_id = t.id AND (
                j.status {_UNFINISHED} OR j.dead_at IS NOT NULL OR j.status = 'merged' AND EXISTS (
                    SELECT 1 FROM jobs AS l
                    WHERE l.environment_id = n.environment_id AND l.notification_id = n.digested_into
                    AND l.status {_UNFINISHED}
                )
            )
        )
    )
""")
CHECK_LATER = sql("""
    UPDATE trigger_attachments SET check_at = :check_at
    WHERE environment_id = :environment_id AND trigger_id = :trigger_id
""")
DELETE_OF_TRIGGERS = sql("""
    DELETE FROM trigger_attachments WHERE environment_id = :environment_id AND trigger_id {any:trigger_ids}
""")
DELETE_UNUSED = sql("""
    DELETE FROM attachments WHERE (environment_id, hash) IN (
        SELECT environment_id, hash FROM attachments AS a
        WHERE a.used_at < :before AND NOT EXISTS (
            SELECT 1 FROM trigger_attachments AS t WHERE t.environment_id = a.environment_id AND t.hash = a.hash
        )
        LIMIT :limit
    ) AND used_at < :before
""")


def take_files(overrides: dict[str, Any]) -> tuple[dict[str, Any], Files]:
    """Return the overrides as they are stored, and the files that they refer to."""
    files: Files = {}

    def take(attachment: Mapping[str, Any]) -> dict[str, Any]:
        # A reference that the caller made up would look like one of ours.
        rest = {name: value for name, value in attachment.items() if name not in ("fileHash", "fileLength")}
        content = rest.get("file")
        if not isinstance(content, str) or len(content) < MIN_LENGTH:
            return rest
        name = blake2b(content.encode(), digest_size=32).hexdigest()
        files[name] = content
        del rest["file"]
        return rest | {"fileHash": name, "fileLength": len(content)}

    return _replace(overrides, take), files


def take_payload_files(payload: dict[str, Any]) -> tuple[dict[str, Any], Files]:
    """Return the payload as it is stored, and the files of its `attachments`; others of that name are data."""
    given = payload.get("attachments")
    if not isinstance(given, list):
        return payload, {}
    taken, files = take_files({"attachments": given})
    return payload | taken, files


def put_files(overrides: dict[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """Return the overrides as the caller sent them, as far as the files are there."""

    def put(attachment: Mapping[str, Any]) -> dict[str, Any]:
        content = files.get(str(attachment.get("fileHash", "")))
        if content is None:
            return dict(attachment)
        rest = {name: value for name, value in attachment.items() if name not in ("fileHash", "fileLength")}
        return rest | {"file": content}

    return _replace(overrides, put)


def has_attachments(overrides: Any) -> bool:
    """Whether there are attachments, for the channel, a provider or one of a step."""
    if not isinstance(overrides, dict):
        return False
    if isinstance(overrides.get("attachments"), list):
        return True
    return any(isinstance(value, dict) and has_attachments(value) for value in overrides.values())


def _replace(value: dict[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    replaced: dict[str, Any] = {}
    for name, item in value.items():
        if name == "attachments" and isinstance(item, list):
            replaced[name] = [change(one) if isinstance(one, dict) else one for one in item]
        else:
            replaced[name] = _replace(item, change) if isinstance(item, dict) else item
    return replaced


async def insert_files(db: Connection, files: Mapping[tuple[EnvironmentId, TriggerId], Files], now: Millis) -> None:
    """Store the files of triggers, each once."""
    contents = {(owner[0], name): text for owner, own in files.items() for name, text in own.items()}
    # In one order, so that two processes that store the same files do not wait for each other.
    rows = [
        (environment_id, bytes.fromhex(name), contents[environment_id, name], now)
        for environment_id, name in sorted(contents)
    ]
    check_at = Millis(now + FIRST_CHECK)
    references = [(*owner, bytes.fromhex(name), check_at) for owner, own in files.items() for name in own]
    await db.insert_many(ATTACHMENTS, rows)
    await db.insert_many(TRIGGER_ATTACHMENTS, references)


async def list_files(db: Connection, environment_id: EnvironmentId, trigger_ids: Iterable[TriggerId]) -> Files:
    """The files that these triggers attach."""
    scope = {"environment_id": environment_id}
    rows = await db.fetch(LIST_HASHES, **scope, trigger_ids=list(trigger_ids))
    hashes = [row["hash"] for row in rows]
    rows = await db.fetch(LIST_FILES, **scope, hashes=hashes) if hashes else []
    return {bytes(row["hash"]).hex(): row["content"] for row in rows}


async def delete_unneeded_files(database: Database, now: Millis) -> None:
    """Delete files that no run needs any more, a few in each unit of work."""
    while await database.transaction(lambda db: _check(db, now)) == _CHECKED_TOGETHER:
        pass
    before = Millis(now - LAST_USE)
    while (
        await database.transaction(lambda db: db.execute(DELETE_UNUSED, before=before, limit=_DELETED_TOGETHER))
        == _DELETED_TOGETHER
    ):
        pass


async def _check(db: Connection, now: Millis) -> int:
    """Give up the files of triggers that need them no more; look at the others again later. Returns how many."""
    rows = await db.fetch(LIST_TO_CHECK, now=now, limit=_CHECKED_TOGETHER)
    by_environment: dict[EnvironmentId, set[TriggerId]] = {}
    for row in rows:
        by_environment.setdefault(row["environment_id"], set()).add(row["trigger_id"])
    for environment_id, trigger_ids in by_environment.items():
        await _check_triggers(db, environment_id, sorted(trigger_ids), now)
    return len(rows)


async def _check_triggers(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Sequence[TriggerId], now: Millis
) -> None:
    scope = {"environment_id": environment_id}
    rows = await db.fetch(LIST_NEEDING, **scope, trigger_ids=list(trigger_ids))
    needing = {TriggerId(row["id"]) for row in rows}
    over = [one for one in trigger_ids if one not in needing]
    if over:
        await db.execute(DELETE_OF_TRIGGERS, **scope, trigger_ids=over)
    for trigger_id in sorted(needing):
        # Their ids begin with the moment at which they were made. The older a trigger, the rarer the look.
        age = now - int.from_bytes(trigger_id[:6])
        pause = min(max(FIRST_CHECK, age), MAX_PAUSE)
        await db.execute(CHECK_LATER, **scope, trigger_id=trigger_id, check_at=Millis(now + pause))


MAX_ATTACHED_BYTES = 20_000_000
"""Of all files of a trigger together. So many fit into a request, where they are a third larger."""
_RULE = "must be base64, a list of bytes, or a Buffer as JavaScript encodes it"
_TOO_LARGE = f"must have files of at most {MAX_ATTACHED_BYTES} bytes together; send links to larger ones"

Values = dict[str, Any]


def read_attached_files(payload: Values, overrides: Values | None) -> tuple[Values, Values | None]:
    """Return both with all files in base64; raises Invalid for what is no file, and for files that are too large."""
    reader = _FileReader()
    if isinstance(payload.get("attachments"), list):
        payload = payload | {"attachments": reader.read_list(payload["attachments"], "payload.attachments")}
    if overrides and has_attachments(overrides):
        overrides = reader.read_members(overrides, "overrides")
    return payload, overrides


def without_files(payload: Values) -> Values:
    """Return the payload as it counts towards its limit, which is not that of files."""
    given = payload.get("attachments")
    if not isinstance(given, list):
        return payload
    return payload | {"attachments": [one | {"file": ""} if _has_file(one) else one for one in given]}


class _FileReader:
    """Adds up the size of the files that it reads."""

    def __init__(self) -> None:
        self._size = 0

    def read_members(self, values: Values, path: str) -> Values:
        """Read all lists named `attachments`, for the channel, a provider or one of a step."""
        read: Values = {}
        for name, item in values.items():
            if name == "attachments" and isinstance(item, list):
                read[name] = self.read_list(item, f"{path}.{name}")
            else:
                read[name] = self.read_members(item, f"{path}.{name}") if isinstance(item, dict) else item
        return read

    def read_list(self, given: list[Any], path: str) -> list[Any]:
        read = []
        for index, one in enumerate(given):
            read.append(one | {"file": self._read(one["file"], f"{path}.{index}.file")} if _has_file(one) else one)
            if self._size > MAX_ATTACHED_BYTES:
                raise Invalid.field(path, _TOO_LARGE)
        return read

    def _read(self, file: Any, path: str) -> str:
        try:
            content = base64.b64decode(file, validate=True) if isinstance(file, str) else _bytes(file)
        except (binascii.Error, ValueError, TypeError):
            # Long ones may have line breaks.
            content = _decode_lines(file, path)
        self._size += len(content)
        return file if isinstance(file, str) else base64.b64encode(content).decode()


def _has_file(one: Any) -> bool:
    return isinstance(one, dict) and one.get("file") is not None


def _bytes(file: Any) -> bytes:
    if isinstance(file, dict) and file.get("type") == "Buffer":
        file = file.get("data")
    if not isinstance(file, list):
        raise TypeError
    return bytes(file)


def _decode_lines(file: Any, path: str) -> bytes:
    try:
        return base64.b64decode("".join(file.split()), validate=True)
    except (AttributeError, ValueError):
        raise Invalid.field(path, _RULE) from None
