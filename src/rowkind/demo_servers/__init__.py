"""Real servers for demos and tests, unpacked into the cache, without root: MariaDB and MySQL."""
