"""`rowkind warm-up`: prepare this installation for fast starts."""

from __future__ import annotations

from typing import Annotated

import typer


def warm_up(
    broker: Annotated[bool, typer.Option("--broker", help="Kafka's classes too, for the local broker; 50 MB.")] = False,
) -> None:
    """Write down Java's classes of Spark once, so that from now on Spark starts in half the time here.

    Takes half a minute and 160 MB. To be done again after Java or PySpark were replaced.
    """
    from rowkind.broker import require_java
    from rowkind.runtime.driver.class_archive import make_archive

    require_java()
    print(f"Spark starts with {make_archive()} from now on.")
    if broker:
        from rowkind.broker import Broker, class_archive

        if made := class_archive.make_archive(lambda jvm: Broker.start(jvm=jvm)):
            print(f"Kafka starts with {made} from now on.")
        else:
            print("Java has not written down the classes of Kafka; it starts as before.")
