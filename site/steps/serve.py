"""A static server for localhost, with the content types a WebAssembly page needs."""

import http.server
import re
import threading
from pathlib import Path

CONTENT_TYPES = {
    ".wasm": "application/wasm",
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".json": "application/json",
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".toml": "text/plain; charset=utf-8",
    ".zst": "application/octet-stream",
    ".zip": "application/octet-stream",
    ".whl": "application/octet-stream",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves one folder. Files below a folder named by its content may be kept by the browser for good."""

    protocol_version = "HTTP/1.1"
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **CONTENT_TYPES}

    def end_headers(self) -> None:
        named_by_content = re.search("/(runtime|app|offline)-", self.path)
        self.send_header("Cache-Control", "max-age=31536000, immutable" if named_by_content else "no-cache")
        super().end_headers()

    def log_message(self, *arguments: object) -> None:
        """Stay quiet: a line for every request buries the one with the address."""


class Server(http.server.ThreadingHTTPServer):
    """Threaded, IPv4, quiet when a browser drops a connection."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves mid-download is no error of ours."""


def make_server(folder: Path, port: int = 0, handler: type[Handler] = Handler) -> Server:
    """A server bound to localhost; port 0, or a port that is taken, gives a free one."""

    def here(*arguments: object, **options: object) -> Handler:
        return handler(*arguments, directory=str(folder), **options)

    try:
        return Server(("127.0.0.1", port), here)
    except OSError:
        if port == 0:
            raise
        return Server(("127.0.0.1", 0), here)


class Serving:
    """Context: the folder served from a thread. `.url` ends in a slash."""

    def __init__(self, folder: Path, handler: type[Handler] = Handler):
        self.server = make_server(folder, handler=handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self) -> "Serving":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.server.shutdown()
        self.server.server_close()
