"""A client of Confluent's schema registry API: schemas by id, and registration; both remembered."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import quote

import httpx

from rowkind.errors import RowkindError
from rowkind.formats.avro.schema import AvroType, SchemaError, parse
from rowkind.formats.schema_registry_access import RegistryAccess
from rowkind.key_stores import store_settings

ATTEMPTS = 6
FIRST_PAUSE = 0.2
"""Seconds; each pause is twice the one before, about six seconds in all."""
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
MOST_REFERENCES = 50
"""How far schemas may refer to others that refer to others."""
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class UnknownSchema(Exception):
    """The registry has no schema of that id, or one that is not Avro; the text says which."""


class SchemaRegistry:
    """Answers are kept for good: an id never changes its schema. One per process and way of access."""

    def __init__(self, access: RegistryAccess, pause: Callable[[float], None] = time.sleep) -> None:
        self.access = access
        self.pause = pause
        self._client: httpx.Client | None = None
        self._schemas: dict[int, AvroType] = {}
        self._ids: dict[tuple[str, str], int] = {}

    def schema(self, id: int) -> AvroType:
        """The schema of this id; UnknownSchema when there is none."""
        if id not in self._schemas:
            answer = self._ask("GET", f"/schemas/ids/{id}", f"schema id {id}")
            if answer.status_code == 404:
                raise UnknownSchema(f"the registry at {self._place} has no schema with id {id}")
            self._schemas[id] = self._parsed(self._accepted(answer, f"schema id {id}"), id)
        return self._schemas[id]

    def register(self, subject: str, schema: str) -> int:
        """The id of a schema under a subject, registered now if it was not before."""
        known = self._ids.get((subject, schema))
        if known is not None:
            return known
        what = f"subject '{subject}'"
        path = f"/subjects/{quote(subject, safe='')}/versions"
        answer = self._ask("POST", path, what, {"schema": schema})
        if answer.status_code == 409:
            raise RowkindError("REGISTRY_INCOMPATIBLE", subject=subject, url=self._place, reason=_reason(answer))
        id = self._accepted(answer, what).get("id")
        if type(id) is not int or not -(1 << 31) <= id < 1 << 31:
            raise RowkindError("REGISTRY_REFUSED", url=self._place, what=what, reason=f"it answered the id {id!r:.80}")
        self._ids[subject, schema] = id
        return id

    def _parsed(self, answer: dict[str, Any], id: int) -> AvroType:
        kind = answer.get("schemaType") or "AVRO"
        if kind != "AVRO":
            raise UnknownSchema(f"the schema with id {id} at {self._place} is {kind}, not Avro")
        try:
            return parse(str(answer.get("schema")), self._references(answer))
        except SchemaError as e:
            raise UnknownSchema(f"the schema with id {id} at {self._place} cannot be read: {e}") from None

    def _references(self, answer: dict[str, Any]) -> list[str]:
        """The schemas that a schema refers to, those first that others need."""
        found: dict[str, str] = {}
        self._gather(answer, (), found)
        return list(dict.fromkeys(found.values()))

    def _gather(self, answer: dict[str, Any], above: tuple[str, ...], found: dict[str, str]) -> None:
        """`above` are the references that led here. Each is followed once, however many schemas have it."""
        try:
            named = [(str(r["subject"]), int(r["version"])) for r in answer.get("references") or ()]
        except (TypeError, KeyError, ValueError):
            raise SchemaError("a reference names no subject and version") from None
        for subject, version in named:
            path = f"/subjects/{quote(subject, safe='')}/versions/{version}"
            what = f"subject '{subject}', version {version}"
            if path in above or len(above) == MOST_REFERENCES:
                raise SchemaError(f"the reference to {what} leads in a circle")
            if path not in found:
                referred = self._accepted(self._ask("GET", path, what), what)
                self._gather(referred, (*above, path), found)
                found[path] = str(referred.get("schema"))

    def _ask(self, method: str, path: str, what: str, body: Any = None) -> httpx.Response:
        """An answer that another try would not change; every address is tried, again and again after a pause."""
        failure = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self.pause(FIRST_PAUSE * 2 ** (attempt - 1))
            for url in self.access.urls:
                try:
                    answer = self._connected().request(method, url + path, json=body)
                except httpx.HTTPError as e:
                    failure = f"{type(e).__name__}: {e}".rstrip(": ")
                    continue
                if answer.status_code not in _PASSING:
                    return answer
                failure = f"status {answer.status_code}: {_reason(answer)}"
        raise RowkindError("REGISTRY_DOWN", url=self._place, what=what, reason=failure)

    def _accepted(self, answer: httpx.Response, what: str) -> dict[str, Any]:
        if answer.status_code in (401, 403):
            raise RowkindError("REGISTRY_DENIED", url=self._place, what=what, status=answer.status_code)
        try:
            found = answer.json() if answer.is_success else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            reason = f"status {answer.status_code}: {_reason(answer)}"
            raise RowkindError("REGISTRY_REFUSED", url=self._place, what=what, reason=reason)
        return found

    @property
    def _place(self) -> str:
        return ", ".join(self.access.urls)

    def _connected(self) -> httpx.Client:
        if self._client is None:
            headers = {"Accept": _ACCEPT}
            if self.access.token is not None:
                headers["Authorization"] = f"Bearer {self.access.token}"
            auth = httpx.BasicAuth(*self.access.user) if self.access.user else None
            self._client = httpx.Client(headers=headers, auth=auth, verify=tls(self.access), timeout=30)
        return self._client


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])[:500]
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]


def tls(access: RegistryAccess) -> ssl.SSLContext:
    """The certificates to trust, and the client's own."""
    found = store_settings(dict(access.stores))
    context = ssl.create_default_context(cafile=found.get("ssl.ca.location"), cadata=found.get("ssl.ca.pem"))
    stores = dict(access.stores)
    if "ssl.keystore.location" in found:
        raise RowkindError("REGISTRY_KEYSTORE_UNSUPPORTED", path=found["ssl.keystore.location"])
    if certificate := found.get("ssl.certificate.location"):
        password = stores.get("ssl.key.password") or stores.get("ssl.keystore.password")
        context.load_cert_chain(certificate, password=password)
    return context


@cache
def registry(access: RegistryAccess) -> SchemaRegistry:
    """The process's client for this access."""
    return SchemaRegistry(access)
