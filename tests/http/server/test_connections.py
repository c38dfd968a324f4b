"""The table of connections: who has to make room for whom."""

from dataclasses import dataclass, field

from clarion.clock import ManualClock, Millis
from clarion.http.server.connections import ConnectionLimits, ConnectionTable

LIMIT = 64


@dataclass(eq=False)
class Client:
    """A connection that sends nothing, in which the server has not waited for long."""

    table: ConnectionTable
    address: str
    deadline: int = 10
    is_waiting: bool = True
    is_evictable: bool = False
    was_evicted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.table.add(self)

    def expire(self) -> None: ...

    def evict(self) -> None:
        self.was_evicted = True


def make_table() -> ConnectionTable:
    limits = ConnectionLimits(max_connections=LIMIT, header_seconds=1, body_seconds=1, idle_seconds=1)
    return ConnectionTable(limits, ManualClock(Millis(0)))


def test_an_address_with_few_connections_takes_places_of_one_with_many_at_once() -> None:
    table = make_table()
    crowd = [Client(table, "192.0.2.1") for _ in range(LIMIT)]

    Client(table, "192.0.2.2")

    assert sum(one.was_evicted for one in crowd) == 2
    assert table.excess == 0


def test_an_address_with_many_connections_takes_nobodys_place() -> None:
    table = make_table()
    others = [Client(table, f"198.51.100.{number % 4}") for number in range(LIMIT // 2)]
    crowd = [Client(table, "192.0.2.1") for _ in range(LIMIT // 2 + 1)]

    assert not any(one.was_evicted for one in [*others, *crowd])
    assert table.excess == 1


def test_a_crowded_address_gives_way_before_others_that_wait_as_long() -> None:
    table = make_table()
    others = [Client(table, f"198.51.100.{number}", deadline=5, is_evictable=True) for number in range(4)]
    crowd = [Client(table, "192.0.2.1", is_evictable=True) for _ in range(LIMIT - 4)]

    Client(table, "192.0.2.2")

    assert not any(one.was_evicted for one in others)
    assert sum(one.was_evicted for one in crowd) == 2


def test_a_connection_whose_request_is_worked_on_stays() -> None:
    table = make_table()
    crowd = [Client(table, "192.0.2.1", is_waiting=False) for _ in range(LIMIT)]

    Client(table, "192.0.2.2")

    assert not any(one.was_evicted for one in crowd)
    assert table.excess == 1


def test_behind_one_proxy_connections_that_were_just_made_stay() -> None:
    table = make_table()
    crowd = [Client(table, "192.0.2.1") for _ in range(LIMIT + 1)]

    assert not any(one.was_evicted for one in crowd)
    table.discard(crowd[0])
    table.discard(crowd[0])
    assert (len(table), table.excess) == (LIMIT, 0)
