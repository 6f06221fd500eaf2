"""Re-create a jar lock file from the `# roots:` line it starts with: `tools/lock_jars.py LOCKFILE...`.

A root is `group:artifact:version[:classifier][@extension]`; a trailing `!` leaves its dependencies out.
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

DEPENDENCY = """<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
<type>{extension}</type>{classifier}{exclusions}</dependency>"""
ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lock</groupId><artifactId>lock</artifactId><version>1</version><dependencies>{}</dependencies></project>"""


def dependency(root: str) -> str:
    """The Maven element of one root."""
    coordinates, _, extension = root.removesuffix("!").partition("@")
    group, artifact, version, *classifier = coordinates.split(":")
    return DEPENDENCY.format(
        group=group,
        artifact=artifact,
        version=version,
        extension=extension or "jar",
        classifier=f"<classifier>{classifier[0]}</classifier>" if classifier else "",
        exclusions=ALONE if root.endswith("!") else "",
    )


def repository_path(resolved: str) -> str:
    """The path of `group:artifact:type[:classifier]:version:scope` in a Maven repository."""
    group, artifact, extension, *classifier, version, _scope = resolved.split(":")
    name = "-".join([artifact, version, *classifier])
    return f"{group.replace('.', '/')}/{artifact}/{version}/{name}.{extension}"


def resolve(roots: list[str]) -> list[str]:
    """Repository paths of the roots and all they need at run time."""
    with tempfile.TemporaryDirectory() as folder:
        pom, listing = Path(folder, "pom.xml"), Path(folder, "list.txt")
        pom.write_text(PROJECT.format("".join(map(dependency, roots))))
        goal = ["dependency:list", "-DincludeScope=runtime", f"-DoutputFile={listing}"]
        subprocess.run(["mvn", "-q", "-B", "-f", str(pom), *goal], check=True, stdout=sys.stderr)
        lines = (line.split() for line in listing.read_text().splitlines())
        return sorted(repository_path(words[0]) for words in lines if words and words[0].count(":") >= 4)


def lock(file: Path) -> None:
    """Rewrite one lock file."""
    header = file.read_text().splitlines()[0]
    label, _, roots = header.partition(":")
    if label != "# roots":
        raise SystemExit(f"{file}: the first line has to start with '# roots:'")
    lines = [header]
    with httpx.Client(base_url=base_url(), verify=trusted(), timeout=60, follow_redirects=True) as client:
        for path in resolve(roots.split()):
            content = client.get(path).raise_for_status().content
            lines.append(f"{sha256(content).hexdigest()} {len(content):>9} {path}")
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        lock(Path(argument))
