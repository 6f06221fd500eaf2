"""`security.protocol`, `sasl.*` and `ssl.*` of the Java client as librdkafka settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from confluent_kafka import KafkaException, Producer

from rowkind.connectors.kafka import jaas
from rowkind.connectors.kafka.jaas import LoginModule
from rowkind.errors import RowkindError, nearest
from rowkind.key_stores import store_settings

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_OWN_LOGIN = "org.apache.kafka.common.security.oauthbearer."
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def security_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """The librdkafka settings that stand for the security keys that are not mapped one to one."""
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise RowkindError(
            "KAFKA_PROPERTY_VALUE",
            key="security.protocol",
            value=protocol,
            reason=f"it must be one of {known}{nearest(protocol, PROTOCOLS)}",
        )
    settings = {"security.protocol": protocol.lower()}
    if protocol.endswith("SSL"):
        settings |= store_settings(properties)
    if protocol.startswith("SASL"):
        settings |= _sasl(properties)
    return settings


def _sasl(properties: Mapping[str, str]) -> dict[str, str]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI").upper()
    if mechanism not in _MECHANISMS:
        raise RowkindError(
            "KAFKA_PROPERTY_VALUE",
            key="sasl.mechanism",
            value=mechanism,
            reason=f"it must be one of {', '.join(_MECHANISMS)}",
        )
    wanted, read = _MECHANISMS[mechanism]
    module = _login_module(properties, mechanism, wanted)
    return {"sasl.mechanism": mechanism, **read(properties, module)}


def _login_module(properties: Mapping[str, str], mechanism: str, wanted: str) -> LoginModule:
    text = properties.get("sasl.jaas.config")
    if text is None:
        return LoginModule(wanted, {})
    module = jaas.parse(text)
    if module.name != wanted:
        raise RowkindError("KAFKA_JAAS_MODULE", module=module.name, mechanism=mechanism, wanted=wanted)
    return module


def _password(properties: Mapping[str, str], module: LoginModule) -> dict[str, str]:
    missing = [name for name in ("username", "password") if name not in module.options]
    # rdkafka.sasl.username and .password are the other way to say it
    if missing and not all(f"rdkafka.sasl.{name}" in properties for name in missing):
        raise RowkindError("KAFKA_JAAS_MALFORMED", reason=f"it gives no {' and no '.join(missing)}")
    if module.options.get("tokenauth", "false") == "true":
        raise RowkindError("KAFKA_JAAS_MALFORMED", reason="delegation tokens (tokenauth) are not known to librdkafka")
    return {f"sasl.{name}": module.options[name] for name in ("username", "password") if name in module.options}


def _oauth(properties: Mapping[str, str], module: LoginModule) -> dict[str, str]:
    for key in ("sasl.login.callback.handler.class", "sasl.oauthbearer.jwt.retriever.class"):
        if not properties.get(key, _OWN_LOGIN).startswith(_OWN_LOGIN) or "FileJwt" in properties.get(key, ""):
            note = "only the Java client's own OAUTHBEARER login has a counterpart here"
            raise RowkindError("KAFKA_PROPERTY_REFUSED", key=key, note=note)
    options = module.options
    subject = options.get("unsecuredLoginStringClaim_sub")
    if subject is not None:
        return {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": f"principal={subject}"}
    settings = {"sasl.oauthbearer.method": "oidc"}
    if "JwtBearer" in properties.get("sasl.oauthbearer.jwt.retriever.class", ""):
        settings["sasl.oauthbearer.grant.type"] = _JWT_BEARER
    names = {"clientId": "client.id", "clientSecret": "client.secret", "scope": "scope"}
    settings |= {f"sasl.oauthbearer.{to}": options[name] for name, to in names.items() if name in options}
    extensions = [f"{n.removeprefix('extension_')}={v}" for n, v in options.items() if n.startswith("extension_")]
    return settings | ({"sasl.oauthbearer.extensions": ",".join(extensions)} if extensions else {})


def _kerberos(properties: Mapping[str, str], module: LoginModule) -> dict[str, str]:
    if not kerberos_built_in():
        raise RowkindError("KAFKA_KERBEROS_MISSING")
    names = {"keyTab": "keytab", "principal": "principal", "serviceName": "service.name"}
    return {f"sasl.kerberos.{to}": module.options[name] for name, to in names.items() if name in module.options}


@cache
def kerberos_built_in() -> bool:
    """Whether this librdkafka was built with Kerberos; the one in the wheels was not."""
    try:
        Producer({"builtin.features": "sasl_gssapi"})
    except KafkaException:
        return False
    return True


_MECHANISMS: dict[str, tuple[str, Callable[[Mapping[str, str], LoginModule], dict[str, str]]]] = {
    "PLAIN": ("PlainLoginModule", _password),
    "SCRAM-SHA-256": ("ScramLoginModule", _password),
    "SCRAM-SHA-512": ("ScramLoginModule", _password),
    "OAUTHBEARER": ("OAuthBearerLoginModule", _oauth),
    "GSSAPI": ("Krb5LoginModule", _kerberos),
}
"""Mechanism -> its login module, and how that module's options are read."""
