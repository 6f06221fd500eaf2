"""Committing a group's offsets after a batch, so that ordinary tools show a job's lag. Recovery ignores them."""

from __future__ import annotations

from collections.abc import Mapping

from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.ranges import Partition


def commits_offsets(properties: Mapping[str, str]) -> bool:
    """Whether a table's progress is committed: there is a group, and Flink's switch for it is not off."""
    wanted = properties.get("commit.offsets.on.checkpoint", "true").strip().lower() != "false"
    return bool(properties.get("group.id")) and wanted


def commit_offsets(cluster: Cluster, offsets: Mapping[Partition, int]) -> None:
    """Commit the next offsets to read for the group of the cluster's properties."""
    if offsets and commits_offsets(cluster.properties):
        cluster.commit(cluster.properties["group.id"], offsets)
