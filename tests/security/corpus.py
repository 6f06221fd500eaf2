"""Hostile input: what someone may write who can write to a topic, and what a schema registry may answer."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LARGE = 200_000
"""Characters of what is meant to be too much: whoever takes the square of it does not come back."""


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def marks(file: Path, nonce: str = "0" * 32) -> list[str]:
    """Texts that look like a worker's error, of this format and the one before it, by someone who wants the file."""
    trap = base64.b64encode(pickle.dumps(Trap(file))).decode()
    forged = base64.b64encode(b'["NO_SUCH_TABLE", {"table": "forged", "suggestion": ""}]').decode()
    names = ["[JOB_FAILED] forged", "[DIVIDE_BY_ZERO] forged. SQLSTATE: 22012"]
    return [f"<rowkind-error:{p}{m}>" for p in ("", f"{nonce}:") for m in (trap, forged)] + names


TEXTS: dict[str, str] = {
    "mark": "<rowkind-error:gASVJgAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAV0b3VjaJSFlFKULg==>",
    "format string": "{table} {0} %s %(x)s {table.__class__} ${HOME} $(id) `id`",
    "null bytes": "a\0b",
    "control characters": "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)])),
    "terminal": "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b1m",
    "direction": "user\u202egnp.exe \u2066x\u2069 \u200e\u200f\u061c",
    "lines": "a\nError: forged\r\n\u2028\u2029\x85b",
    "path": "../../../../etc/passwd",
    "long path": "/".join([".."] * 2000),
    "device": "/dev/stdin\0",
    "sql": "'; DROP TABLE t; --",
    "sql of names": "`) AS x, (SELECT 1) AS `y\" ; \"",
    "comment": "*/ /*rowkind:clock*/ /*+ OPTIONS('x'='y') */ --",
    "markup": "[bold]x[/bold] [link=http://x]y[/link] <script>alert(1)</script>",
    "expression": "=cmd|' /C calc'!A0",
    "astral": "\U0001f600\U0010ffff",
    "not characters": "\ufffe\uffff\ufdd0",
    "byte order mark": "\ufeffa",
    "blank": " \t\r\n\u00a0\u3000",
    "digits": "1" * LARGE,
    "digits, then a letter": "1" * LARGE + "x",
    "signs": "+-" * (LARGE // 2),
    "fraction": "0." + "1" * LARGE,
    "exponent": "1e999999999",
    "negative exponent": "1e-999999999",
    "long exponent": "1e" + "9" * 5000,
    "other digits": "١٢٣" * 400,
    "hexadecimal": "0x" + "f" * 5_000 + "p1",
    "not a number": "NaN",
    "infinity": "-Infinity",
    "far date": "+999999999-12-31",
    "far time": "99:99:99.999999999999",
    "far timestamp": "+292278994-08-17T07:12:55.807Z",
    "blanks": " " * LARGE,
    "quotes": '"' * LARGE,
    "escaped quotes": '\\"' * (LARGE // 2),
    "backslashes": "\\" * LARGE,
    "commas": "," * LARGE,
    "semicolons": ";" * LARGE,
    "base64": "AAAA" * (LARGE // 4) + "!",
    "long": "a" * LARGE,
}  # fmt: skip
"""Texts that may stand in any field, header or name."""

RAW: dict[str, bytes] = {
    "nothing": b"",
    "latin 1": b"caf\xe9 \"\t",
    "cut in a character": "€".encode()[:2],
    "overlong": b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf",
    "surrogates": b"\xed\xa0\x80\xed\xbf\xbf \xed\xa0",
    "beyond unicode": b"\xf4\x90\x80\x80\xf5\x80\x80\x80\xf8\x88\x80\x80\x80\xff\xfe",
    "utf-16": "\ufeff{}".encode("utf-16-le"),
    "utf-32": '{"s":"x"}'.encode("utf-32-be"),
    "every byte": bytes(range(256)),
    "zeros": bytes(10_000),
    "ones": b"\xff" * 10_000,
    "pickle": pickle.dumps({"a": 1}),
    "arrow": b"ARROW1\0\0" + bytes(64),
    "gzip": b"\x1f\x8b\x08" + bytes(64),
    "brackets": b"[" * LARGE,
    "braces": b'{"s":' * 40_000,
    "deep": b'{"r":' * 5000 + b"1" + b"}" * 5000,
    "deep arrays": b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "just deep enough": b'{"a":' + b"[" * 990 + b"]" * 990 + b"}",
    "open text after brackets": b"[" * 300 + b'"' + b'\\"' * (LARGE // 2),
    "many keys": b"{" + b",".join(b'"k%d":%d' % (i, i) for i in range(10_000)) + b"}",
    "one key, often": b"{" + b",".join([b'"s":"x"'] * 10_000) + b"}",
    "many rows": b"[" + b",".join([b'{"s":"x"}'] * 5_000) + b"]",
    "half a pair": b'{"s":"\\ud800","m":{"\\udfff":"\\ud800"},"a":["\\udc00\\ud800"]}',
    "keys of odd names": b'{"__proto__":1,"constructor":{},"":1,"s\\u0000":1,"S":"other","s":"x"}',
    "a large count": b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01" * 4,
    "negative counts": b"\x01" * 200,
    "unknown schema": b"\0\x7f\xff\xff\xff" + bytes(20),
}  # fmt: skip
"""Payloads that no format writes."""


def json_rows(columns: Sequence[str]) -> Iterator[bytes]:
    """Objects in which columns are hostile texts, numbers, objects and arrays: all of them, and each by itself."""
    for text in TEXTS.values():
        yield json.dumps(dict.fromkeys(columns, text), ensure_ascii=False).encode()
        yield json.dumps({text: 1, "a": [text], "m": {text: text}, "r": {"s": text}}).encode()
    for token in TOKENS:
        yield ("{" + ",".join(f'"{column}":{token}' for column in columns) + "}").encode()
    for column in columns:
        for token in (*TOKENS, *(json.dumps(text) for text in TEXTS.values() if len(text) < 1000)):
            yield f'{{"{column}":{token}}}'.encode()


TOKENS = (
    *("1" * 999, "-" + "1" * 5000, "1e999999", "-0", "1E-400", "0." + "1" * 5000, "{}", "[]", '[["x"]]'),
    *('{"s":{"s":{}}}', "true", '""', '"\\ud800"', '["\\udfff"]', '{"\\ud800":"\\udc00"}', "NaN", "01", "'x'"),
)
"""Values of json."""
