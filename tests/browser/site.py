"""Pages of another origin than the API's: the product that shows an inbox."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from msgspec import Struct

TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


class PageContent(Struct, frozen=True):
    body: bytes
    headers: dict[str, str]


class ProductSite:
    """A web server on a free port; `put` says what it answers."""

    def __init__(self) -> None:
        self._contents: dict[str, PageContent] = {}
        contents = self._contents

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = contents.get(self.path.partition("?")[0])
                self.send_response(200 if found else 404)
                for name, value in (found.headers if found else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(found.body) if found else 0))
                self.end_headers()
                if found:
                    self.wfile.write(found.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # Another host name than that of the API, so that it is another origin and another site.
        self.address = f"http://localhost:{self.server.server_address[1]}"
        self.put("/favicon.ico", b"")

    def put(self, path: str, body: str | bytes, **headers: str) -> str:
        """Answer a path; returns its address."""
        kind = TYPES.get(path.rpartition(".")[2], TYPES["html"])
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        self._contents[path] = PageContent(
            body.encode() if isinstance(body, str) else body, {"Content-Type": kind, **given}
        )
        return f"{self.address}{path}"


@contextmanager
def product_site() -> Iterator[ProductSite]:
    site = ProductSite()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        thread.join()
        site.server.server_close()
