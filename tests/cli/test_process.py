"""How many sockets fit beside the connections of requests."""

import resource

import pytest

from clarion.cli.process import DEFAULT_MAX_SOCKETS, choose_max_connections, choose_max_sockets
from clarion.errors import SettingsError
from clarion.settings.model import Settings


@pytest.mark.parametrize("files", [256, 1024, 4096, 20_000, 1_000_000])
def test_sockets_leave_room_for_requests_and_other_files(files: int) -> None:
    settings = Settings()
    connections = choose_max_connections(settings, files=files)

    sockets = choose_max_sockets(settings, connections, files=files)

    assert 1 <= sockets <= DEFAULT_MAX_SOCKETS
    assert sockets + connections < files


def test_without_a_limit_of_files_the_default_holds() -> None:
    assert choose_max_sockets(Settings(), 10_000, files=resource.RLIM_INFINITY) == DEFAULT_MAX_SOCKETS


def test_more_sockets_than_files_are_refused_with_the_way_out() -> None:
    assert choose_max_sockets(Settings(max_sockets=500), 1000, files=2000) == 500
    with pytest.raises(SettingsError, match=r"CLARION_MAX_SOCKETS is 5000.*ulimit -n.*CLARION_MAX_CONNECTIONS"):
        choose_max_sockets(Settings(max_sockets=5000), 1000, files=2000)
