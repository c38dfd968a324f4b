"""Counts of runs over time, by status: exact if there are few, else estimated from samples.

The work is bounded either way. An estimate looks at the first rows of many short ranges of time: a range with fewer
rows than the sample is counted exactly, of the others the density of the sample is extrapolated. The ranges with the
highest estimates are divided again and again, as far as the work allows, which tells bursts from steady load. Each
status but completed is sampled by its own index, so that rare failures are counted exactly among millions of others.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.ids import first_id
from clarion.runs.filters import Selection, select_runs, status_part
from clarion.runs.model import Counts, Interval, RunFilter, TimeSpan
from clarion.runs.status import COMPLETED, STATUSES
from clarion.vocabulary import RunStatus

MAX_BUCKETS = 200
_CHOSEN_BUCKETS = 100
"""At most so many, if the caller does not choose the interval."""
MAX_EXACT = 20_000
SAMPLE = 100
MAX_SAMPLED = 20_000
"""Rows that an estimate looks at."""
_PIECES = 4
_RANGES_PER_QUERY = 20


class _Range(Struct, eq=False):
    """A time, with the first rows of one part of the selection that began in it."""

    part: str
    low: Millis
    high: Millis
    examined: int = 0
    last: Millis = Millis(0)
    statuses: Counter[RunStatus] = field(default_factory=Counter)

    @property
    def factor(self) -> float:
        """How many times the sample the range has, if all of it is like the sample."""
        # The time in an id may differ a little from that of its row, which can be before the range then.
        return max(1.0, (self.high - self.low) / max(1, self.last - self.low + 1))

    @property
    def is_divisible(self) -> bool:
        return self.high - self.low >= _PIECES

    def divide(self) -> list["_Range"]:
        length = self.high - self.low
        bounds = [Millis(self.low + length * number // _PIECES) for number in range(_PIECES + 1)]
        return [_Range(self.part, low, high) for low, high in pairwise(bounds)]


def choose_span(after: Millis, before: Millis, interval: Interval | None) -> TimeSpan:
    """The buckets that cover a time; the interval is the shortest that makes few enough, unless it is given."""
    if after > before:
        raise Invalid.field("after", "must not be later than 'before'")
    chosen = interval or next(
        (one for one in Interval if (before - after) / one.millis < _CHOSEN_BUCKETS), Interval.WEEK
    )
    length = chosen.millis
    span = TimeSpan(Millis(after // length * length), Millis((before // length + 1) * length), chosen)
    if len(span.buckets) > MAX_BUCKETS:
        name = "after" if interval is None else "interval"
        problem = f"makes {len(span.buckets)} buckets, but at most {MAX_BUCKETS} are counted; take a longer interval"
        raise Invalid.field(name, problem + " or a shorter time")
    return span


async def count_runs(
    db: Connection,
    wanted: RunFilter,
    span: TimeSpan,
    *,
    max_exact: int = MAX_EXACT,
    max_sampled: int = MAX_SAMPLED,
) -> Counts:
    """How many runs began in each bucket, by their status now."""
    selection = await select_runs(db, wanted)
    if wanted.is_empty or not selection.parts:
        return Counts(span, Counter(), is_estimated=False)
    exact = await _count_exactly(db, selection, span, max_exact)
    if exact is not None:
        return Counts(span, exact, is_estimated=False)
    selection = _by_status(selection, wanted)
    ranges, limit = await _take_samples(db, selection, span, max_sampled)
    totals: dict[tuple[int, RunStatus], float] = {}
    for sampled in ranges:
        bucket = sampled.low // span.interval.millis * span.interval.millis
        factor = sampled.factor if sampled.examined >= limit else 1.0
        for status, count in sampled.statuses.items():
            totals[bucket, status] = totals.get((bucket, status), 0.0) + count * factor
    counts = Counter({key: round(total) for key, total in totals.items()})
    return Counts(span, counts, is_estimated=any(one.examined >= limit for one in ranges))


def _by_status(selection: Selection, wanted: RunFilter) -> Selection:
    """Without another index to walk, take the one of each status, and all runs for those that are completed."""
    if selection.parts != ("TRUE",):
        return selection
    statuses = sorted(wanted.statuses or STATUSES)
    parts = [status_part(one) for one in statuses if one != COMPLETED]
    if COMPLETED in statuses:
        parts.append("TRUE")
    return Selection(parts=tuple(parts), conditions=selection.conditions, parameters=selection.parameters)


async def _count_exactly(
    db: Connection, selection: Selection, span: TimeSpan, limit: int
) -> Counter[tuple[int, RunStatus]] | None:
    """The counts; None if there are too many rows to look at."""
    counts: Counter[tuple[int, RunStatus]] = Counter()
    examined = 0
    for part in selection.parts:
        query = sql(f"""
            SELECT created_at / :length AS bucket, status, count(*) AS examined,
                sum(CASE WHEN is_match THEN 1 ELSE 0 END) AS matched
            FROM ({_select(selection, part)}) AS found GROUP BY 1, 2
        """)
        rows = await db.fetch(
            query,
            **selection.parameters,
            length=int(span.interval.millis),
            **_bounds(span.after, span.before),
            reach=limit + 1 - examined,
        )
        for row in rows:
            examined += row["examined"]
            # The time in an id may differ a little from that of its row.
            bucket = min(max(row["bucket"] * span.interval.millis, span.buckets[0]), span.buckets[-1])
            counts[bucket, _status(row)] += int(row["matched"])
        if examined > limit:
            return None
    return counts


async def _take_samples(
    db: Connection, selection: Selection, span: TimeSpan, max_sampled: int
) -> tuple[list[_Range], int]:
    """Ranges that cover the whole span, and how many rows of each were looked at, at most."""
    length = span.interval.millis
    ranges = [_Range(part, Millis(start), Millis(start + length)) for part in selection.parts for start in span.buckets]
    limit = max(10, min(SAMPLE, max_sampled // len(ranges)))
    await _sample(db, selection, ranges, limit)
    left = max_sampled - sum(one.examined for one in ranges)
    while (count := left // (limit * _PIECES)) > 0:
        dense = [one for one in ranges if one.examined >= limit and one.is_divisible]
        divided = sorted(dense, key=lambda one: -one.examined * one.factor)[:count]
        if not divided:
            break
        pieces = [piece for one in divided for piece in one.divide()]
        await _sample(db, selection, pieces, limit)
        ranges = [*(one for one in ranges if one not in divided), *pieces]
        left -= max(limit, sum(one.examined for one in pieces))
    return ranges, limit


async def _sample(db: Connection, selection: Selection, ranges: Sequence[_Range], limit: int) -> None:
    """Look at the first rows of each range."""
    for start in range(0, len(ranges), _RANGES_PER_QUERY):
        batch = ranges[start : start + _RANGES_PER_QUERY]
        selects, parameters = [], dict(selection.parameters)
        for number, sampled in enumerate(batch):
            selects.append(f"""
                SELECT {number} AS place, status, count(*) AS examined, max(created_at) AS last,
                    sum(CASE WHEN is_match THEN 1 ELSE 0 END) AS matched
                FROM ({_select(selection, sampled.part, str(number))}) AS found_{number} GROUP BY status
            """)
            parameters |= _bounds(sampled.low, sampled.high, str(number))
        for row in await db.fetch(sql(" UNION ALL ".join(selects)), **parameters, reach=limit):
            _add(batch[row["place"]], row)


def _add(sampled: _Range, row: Row) -> None:
    sampled.examined += row["examined"]
    sampled.last = max(sampled.last, row["last"])
    status = _status(row)
    # The part of all runs counts the completed ones; the others have parts of their own.
    if sampled.part != "TRUE" or status is RunStatus.COMPLETED:
        sampled.statuses[status] += int(row["matched"])


def _select(selection: Selection, part: str, mark: str = "") -> str:
    """The first rows of a part of the selection in a range of ids."""
    return f"""
        SELECT t.created_at, t.status, ({selection.match}) AS is_match FROM notifications AS t
        WHERE t.environment_id = :environment_id AND t.id >= :low{mark} AND t.id < :high{mark} AND {part}
        ORDER BY t.id LIMIT :reach
    """


def _bounds(low: Millis, high: Millis, mark: str = "") -> dict[str, Any]:
    return {f"low{mark}": first_id(low), f"high{mark}": first_id(high)}


def _status(row: Row) -> RunStatus:
    return STATUSES[COMPLETED if row["status"] is None else row["status"]]
