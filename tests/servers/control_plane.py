"""A stand-in for the control plane of ApsaraMQ: it checks signatures as documented for ACS3-HMAC-SHA256, by itself."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

SIGNED = "ACS3-HMAC-SHA256"
NEEDED = {"host", "x-acs-action", "x-acs-version", "x-acs-date", "x-acs-signature-nonce", "x-acs-content-sha256"}


@dataclass
class StandIn:
    """Takes CreateTopic of one account, and has `create` make the topic."""

    key_id: str
    key_secret: str
    create: Callable[[dict[str, str]], None] = lambda query: None
    answers: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """To be given first, instead of creating anything."""
    asked: list[dict[str, str]] = field(default_factory=list)
    endpoint: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> tuple[int, dict[str, Any]]:
        query = dict(parse_qsl(urlsplit(handler.path).query, keep_blank_values=True))
        wrong = self._signature(handler, query)
        if wrong:
            return 403, {"Code": "SignatureDoesNotMatch", "Message": f"{wrong}: {handler.headers['Authorization']}"}
        self.asked.append(query)
        if self.answers:
            return self.answers.pop(0)
        self.create(query)
        return 200, {"Code": 200, "Success": True, "Message": "operation success.", "RequestId": "1"}

    def _signature(self, handler: BaseHTTPRequestHandler, query: dict[str, str]) -> str:
        """What is wrong with a request; nothing when it is signed with the account's secret."""
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        algorithm, _, rest = handler.headers.get("Authorization", "").partition(" ")
        said = dict(part.split("=", 1) for part in rest.split(",")) if rest else {}
        if algorithm != SIGNED or said.get("Credential") != self.key_id:
            return "another account"
        names = said["SignedHeaders"].split(";")
        if not set(names) >= NEEDED or names != sorted(names):
            return "headers that are not signed"
        digest = sha256(body).hexdigest()
        if handler.headers["x-acs-content-sha256"] != digest:
            return "another body"
        if (handler.headers["x-acs-action"], handler.headers["x-acs-version"]) != ("CreateTopic", "2019-09-16"):
            return "another action"
        headers = "".join(f"{name}:{handler.headers[name].strip()}\n" for name in names)
        pairs = sorted((quote(k, safe="~"), quote(v, safe="~")) for k, v in query.items())
        listed = "&".join(f"{key}={value}" for key, value in pairs)
        canonical = "\n".join(
            [handler.command, urlsplit(handler.path).path, listed, headers, said["SignedHeaders"], digest]
        )
        text = f"{SIGNED}\n{sha256(canonical.encode()).hexdigest()}"
        right = hmac.new(self.key_secret.encode(), text.encode(), sha256).hexdigest()
        return "" if hmac.compare_digest(right, said["Signature"]) else "another signature"


@contextmanager
def control_plane(stand_in: StandIn) -> Iterator[StandIn]:
    """Serve it, at its `endpoint`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, answer = stand_in.answer(self)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stand_in.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield stand_in
        finally:
            server.shutdown()
            thread.join()
