"""`clarion serve`, `api` and `worker`: the processes of an installation."""

from clarion.cli import serving
from clarion.cli.installation import load_settings
from clarion.cli.options import DatabaseUrl, DataDir, Host, Port


def serve(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Run everything in one process: migrate the store, serve the API, do the work."""
    settings = load_settings(data_dir, database_url, host=host, port=port)
    serving.run_serve(settings)


def api(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Serve the API only; run any number of these on PostgreSQL."""
    settings = load_settings(data_dir, database_url, host=host, port=port)
    serving.run_api(settings)


def worker(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Do the background work only; run any number of these on PostgreSQL."""
    serving.run_worker(load_settings(data_dir, database_url))
