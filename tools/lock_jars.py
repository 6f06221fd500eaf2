"""Re-create a jar lock file from the `# roots:` line it starts with: `tools/lock_jars.py LOCKFILE...`.

A root is `group:artifact:version`, or without its dependencies `group:artifact:version[:classifier][@extension]!`.
Needs `mvn`; only maintainers run this.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import httpx

from rowkind.broker.download import base_url, trusted

DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"""
PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lock</groupId><artifactId>lock</artifactId><version>1</version><dependencies>{}</dependencies></project>"""


def alone(root: str) -> str:
    """The repository path of a root whose dependencies are left out."""
    coordinates, _, extension = root.removesuffix("!").partition("@")
    group, artifact, version, *classifier = coordinates.split(":")
    return repository_path(group, artifact, version, classifier, extension or "jar")


def closure(roots: list[str]) -> list[str]:
    """Repository paths of the roots and all they need at run time, as Maven resolves them."""
    if not roots:
        return []
    with tempfile.TemporaryDirectory() as folder:
        pom, listing = Path(folder, "pom.xml"), Path(folder, "list.txt")
        pom.write_text(PROJECT.format("".join(DEPENDENCY.format(*root.split(":")) for root in roots)))
        goal = ["dependency:list", "-DincludeScope=runtime", f"-DoutputFile={listing}"]
        subprocess.run(["mvn", "-q", "-B", "-f", str(pom), *goal], check=True, stdout=sys.stderr)
        words = [line.split()[0].split(":") for line in listing.read_text().splitlines() if line.count(":") >= 4]
    return [
        repository_path(group, artifact, version, rest[1:], rest[0]) for group, artifact, *rest, version, _ in words
    ]


def repository_path(group: str, artifact: str, version: str, classifier: list[str], extension: str) -> str:
    name = "-".join([artifact, version, *classifier])
    return f"{group.replace('.', '/')}/{artifact}/{version}/{name}.{extension}"


def lock(file: Path) -> None:
    """Rewrite one lock file."""
    header = file.read_text().splitlines()[0]
    label, _, roots = header.partition(":")
    if label != "# roots":
        raise SystemExit(f"{file}: the first line has to start with '# roots:'")
    lines = [header]
    with httpx.Client(base_url=base_url(), verify=trusted(), timeout=60, follow_redirects=True) as client:
        whole = [root for root in roots.split() if not root.endswith("!")]
        single = [root for root in roots.split() if root.endswith("!")]
        for path in sorted({*closure(whole), *map(alone, single)}):
            content = client.get(path).raise_for_status().content
            lines.append(f"{sha256(content).hexdigest()} {len(content):>9} {path}")
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        lock(Path(argument))
