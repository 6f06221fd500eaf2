"""Where the programs of MariaDB and MySQL are: on the path, else in the cache, fetched when first needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rowkind.broker.cache import cache_dir, exclusive
from rowkind.broker.download import fetch
from rowkind.demo_servers.debian import libraries, unpacked

LOCK = Path(__file__).with_name("mysql.lock")
ARCHIVE = "mysql-Linux-amd64.tar.gz"
LIBRARIES = ("libaio1", "liburing2", "libsnappy1v5", "liblzo2-2", "libpmem1", "libdaxctl1", "libndctl6")
PACKAGES = ("mariadb-server-core", "mariadb-client-core", *LIBRARIES)
SYSTEM_TABLES = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
)


class Flavor(StrEnum):
    MARIADB = "mariadb"
    MYSQL = "mysql"


@dataclass(frozen=True, slots=True)
class Programs:
    """One installed server."""

    flavor: Flavor
    daemon: Path
    share: Path
    """The folder with error messages, character sets and, for MariaDB, the statements of the system tables."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, data: Path) -> list[str]:
        """How the daemon is called on a data folder; as root it insists on being told so."""
        places = [f"--datadir={data}", f"--lc-messages-dir={self.share}", f"--character-sets-dir={self.share}/charsets"]
        user = ["--user=root"] if os.geteuid() == 0 else []
        return [str(self.daemon), "--no-defaults", *places, *user]

    def initialise(self, data: Path, log: Path) -> None:
        """Write the system tables into an empty folder: user root has no password."""
        small = ["--innodb-buffer-pool-size=24M", "--innodb-log-file-size=8M"]
        if self.flavor is Flavor.MYSQL:
            self._run([*self.command(data), *small, "--initialize-insecure"], "", log)
        else:
            texts = [(self.share / name).read_text("utf-8") for name in SYSTEM_TABLES]
            start = "create database mysql;\nuse mysql;\nset @auth_root_socket=null;\nset @skip_auth_anonymous=1;\n"
            self._run([*self.command(data), *small, "--bootstrap", "--log-warnings=0"], start + "".join(texts), log)

    def _run(self, command: list[str], statements: str, log: Path) -> None:
        with log.open("wb") as out:
            environment = {**os.environ, **self.environment}
            subprocess.run(command, input=statements.encode(), stdout=out, stderr=out, env=environment, check=True)


def programs(flavor: Flavor) -> Programs:
    """The server of this kind: one on the path is used as it is."""
    found = _on_path(flavor)
    if found:
        return found
    if flavor is Flavor.MARIADB:
        root = unpacked("mariadb", PACKAGES)
        return Programs(flavor, root / "usr/sbin/mariadbd", root / "usr/share/mysql", libraries(root))
    root = _mysql()
    return Programs(flavor, root / "bin/mysqld", root / "share", libraries(unpacked("libaio", ["libaio1"])))


def _on_path(flavor: Flavor) -> Programs | None:
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    found = shutil.which("mariadbd" if flavor is Flavor.MARIADB else "mysqld", path=places)
    if found is None:
        return None
    # MariaDB's packages also bring a link named mysqld.
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    if ("MariaDB" in version) != (flavor is Flavor.MARIADB):
        return None
    root = Path(found).resolve().parent.parent
    shares = [folder for name in ("mariadb", "mysql", ".") if (folder := root / "share" / name).is_dir()]
    share = next((folder for folder in shares if (folder / "charsets").is_dir()), None)
    return Programs(flavor, Path(found), share) if share else None


def _mysql() -> Path:
    jar = fetch(LOCK, "MySQL 8.0")[0]
    folder = cache_dir("servers") / jar.stem
    with exclusive(cache_dir("servers") / "unpack.lock"):
        if not folder.exists():
            partial = folder.with_name(f"{jar.stem}.{os.getpid()}")
            with zipfile.ZipFile(jar) as archive, archive.open(ARCHIVE) as inner, tarfile.open(fileobj=inner) as tar:
                tar.extractall(partial, filter="data")
            partial.rename(folder)
    return folder
