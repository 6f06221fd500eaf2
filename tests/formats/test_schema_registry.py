"""The registry client: credentials, retries and refusals, on a local HTTP server that answers as told."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.schema_registry import ATTEMPTS, SchemaRegistry, UnknownSchema
from rowkind.formats.schema_registry_access import RegistryAccess

LONG = {"schema": '"long"'}


class Server(ThreadingHTTPServer):
    """Gives the answers of `script` one after the other, the last one for ever; keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, Any]] = [(200, LONG)]
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        status, reply = self.server.script.pop(0) if len(self.server.script) > 1 else self.server.script[0]
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def access(url: str, **options: Any) -> RegistryAccess:
    return RegistryAccess.of(FormatChoice("avro-confluent", {"url": url, **options}, FormatContext("t")))


def client(url: str, pauses: list[float] | None = None, **options: Any) -> SchemaRegistry:
    return SchemaRegistry(access(url, **options), (pauses if pauses is not None else []).append)


def test_a_schema_is_asked_for_once(server: Server) -> None:
    registry = client(server.url + "/")
    assert registry.schema(7).kind == "long"
    assert registry.schema(7).kind == "long"
    assert [(m, p) for m, p, _, _ in server.asked] == [("GET", "/schemas/ids/7")]


def test_a_schema_is_registered_once_a_subject(server: Server) -> None:
    server.script = [(200, {"id": 12})]
    registry = client(server.url)
    assert [registry.register("a/b-value", '"long"') for _ in range(3)] == [12, 12, 12]
    registry.register("c", '"long"')
    assert [(m, p, b) for m, p, _, b in server.asked] == [
        ("POST", "/subjects/a%2Fb-value/versions", {"schema": '"long"'}),
        ("POST", "/subjects/c/versions", {"schema": '"long"'}),
    ]


@pytest.mark.parametrize(
    ("options", "user"),
    [
        ({"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "u:p:q"}, "u:p:q"),
        ({"basic-auth.user-info": "u:p"}, "u:p"),
        ({"basic-auth.credentials-source": "URL"}, "in:url@"),
        ({}, "in:url@"),
        ({"properties.*": {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "a:b"}}, "a:b"),
        (
            {
                "basic-auth.credentials-source": "USER_INFO",
                "basic-auth.user-info": "wins:x",
                "properties.*": {"basic.auth.user.info": "a:b"},
            },
            "wins:x",
        ),
        (
            {
                "basic-auth.credentials-source": "SASL_INHERIT",
                "properties.*": {"sasl.jaas.config": 'Login required username="me" password="s\\"t";'},
            },
            'me:s"t',
        ),
    ],
)
def test_basic_authentication(server: Server, options: dict[str, Any], user: str) -> None:
    client(server.url.replace("http://", "http://in:url%40@"), **options).schema(1)
    assert server.asked[0][2]["Authorization"] == "Basic " + base64.b64encode(user.encode()).decode()


def test_bearer_token(server: Server) -> None:
    for options in (
        {"bearer-auth.token": "abc", "bearer-auth.credentials-source": "STATIC_TOKEN"},
        {"properties.*": {"bearer.auth.token": "abc"}},
    ):
        client(server.url, **options).schema(1)
        assert server.asked[-1][2]["Authorization"] == "Bearer abc"


def test_credentials_are_not_shown() -> None:
    shown = repr(access("http://u:secret@h", **{"bearer-auth.token": "hidden"}))
    assert "secret" not in shown
    assert "hidden" not in shown


@pytest.mark.parametrize(
    ("url", "options", "condition"),
    [
        (None, {}, "REGISTRY_URL_MISSING"),
        ("localhost:8081", {}, "REGISTRY_URL_INVALID"),
        ("http://h", {"basic-auth.credentials-source": "USER_INFO"}, "REGISTRY_CREDENTIALS_MISSING"),
        ("http://h", {"basic-auth.credentials-source": "URL"}, "REGISTRY_CREDENTIALS_MISSING"),
        ("http://h", {"basic-auth.credentials-source": "SASL_INHERIT"}, "REGISTRY_CREDENTIALS_MISSING"),
        ("http://h", {"bearer-auth.credentials-source": "STATIC_TOKEN"}, "REGISTRY_CREDENTIALS_MISSING"),
        ("http://h", {"basic-auth.credentials-source": "MAGIC"}, "REGISTRY_CREDENTIALS_UNKNOWN"),
        ("http://h", {"bearer-auth.credentials-source": "OAUTHBEARER"}, "REGISTRY_CREDENTIALS_UNKNOWN"),
        ("http://h", {"properties.*": {"no.such": "x"}}, "REGISTRY_PROPERTY_UNKNOWN"),
        (
            "http://h",
            {"basic-auth.credentials-source": "USER_INFO", "bearer-auth.credentials-source": "STATIC_TOKEN"},
            "REGISTRY_TWO_CREDENTIALS",
        ),
    ],
)
def test_refused_options(url: str | None, options: dict[str, Any], condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        access(url or "", **options)
    assert caught.value.condition == condition


def test_what_may_pass_is_tried_again(server: Server) -> None:
    server.script = [(503, {"message": "busy"}), (500, b"oops"), (429, b""), (200, LONG)]
    pauses: list[float] = []
    assert client(server.url, pauses).schema(1).kind == "long"
    assert pauses == [0.2, 0.4, 0.8]


def test_a_registry_that_is_down(server: Server) -> None:
    server.script = [(503, {"message": "busy"})]
    with pytest.raises(RowkindError) as caught:
        client(server.url).register("orders-value", '"long"')
    assert caught.value.condition == "REGISTRY_DOWN"
    assert "orders-value" in caught.value.message
    assert len(server.asked) == ATTEMPTS


def test_nobody_answers_and_another_address_does(server: Server) -> None:
    with Server() as closed:
        dead = closed.url
    with pytest.raises(RowkindError) as caught:
        client(dead).schema(41)
    assert caught.value.condition == "REGISTRY_DOWN"
    assert "41" in caught.value.message
    assert client(f"{dead}, {server.url}").schema(1).kind == "long"


@pytest.mark.parametrize(
    ("status", "reply", "condition"),
    [
        (401, {"message": "no"}, "REGISTRY_DENIED"),
        (403, {"message": "no"}, "REGISTRY_DENIED"),
        (409, {"message": "reader missing default"}, "REGISTRY_INCOMPATIBLE"),
        (422, {"message": "invalid"}, "REGISTRY_REFUSED"),
        (404, {"message": "no such subject"}, "REGISTRY_REFUSED"),
        (200, b"<html>", "REGISTRY_REFUSED"),
    ],
)
def test_refusals_are_final(server: Server, status: int, reply: Any, condition: str) -> None:
    server.script = [(status, reply)]
    with pytest.raises(RowkindError) as caught:
        client(server.url).register("s", '"long"')
    assert caught.value.condition == condition
    assert len(server.asked) == 1


def test_an_unknown_id_is_the_messages_fault_and_asked_for_again(server: Server) -> None:
    server.script = [(404, {"error_code": 40403, "message": "Schema not found"}), (200, LONG)]
    registry = client(server.url)
    with pytest.raises(UnknownSchema):
        registry.schema(5)
    assert registry.schema(5).kind == "long"


def test_a_schema_that_is_not_avro(server: Server) -> None:
    for reply in ({"schema": "{}", "schemaType": "JSON"}, {"schema": '{"type":"nothing"}'}):
        server.script = [(200, reply)]
        with pytest.raises(UnknownSchema):
            client(server.url).schema(5)


def test_references(server: Server) -> None:
    outer = {"type": "record", "name": "o", "fields": [{"name": "i", "type": "x.Inner"}]}
    inner = {"type": "record", "name": "Inner", "namespace": "x", "fields": [{"name": "n", "type": "int"}]}
    reference = {"name": "x.Inner", "subject": "inner", "version": 2}
    server.script = [
        (200, {"schema": json.dumps(outer), "references": [reference]}),
        (200, {"schema": json.dumps(inner), "id": 1}),
    ]
    schema = client(server.url).schema(9)
    assert schema.fields[0].type.fields[0].type.kind == "int"
    assert server.asked[1][1] == "/subjects/inner/versions/2"
