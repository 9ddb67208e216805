"""Change detection alone, without the start of a process: what `run.py` measures as the case `detect`.

    python benchmarks/detect.py BUNDLE CATALOG ROUNDS

The catalog must be up to date with the bundle. Ours loads the stored signatures, walks and compares; the floor is
os.scandir and stat into a dict. Both run in this process, in turns. Prints {"ours": [...], "floor": [...]}, CPU
seconds (user + system) of each round.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing

import floors

from okf_catalog.catalog import database
from okf_catalog.catalog.detect import detect, stored_signatures
from okf_catalog.catalog.sync import bundle_at


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU seconds of one call, the release of its result included, garbage of earlier calls not."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def main(argv: list[str]) -> int:
    """Measure and print."""
    root, catalog, rounds = argv[0], argv[1], int(argv[2])
    with closing(database.open_existing(catalog, read_only=True)) as connection:
        bundle = bundle_at(connection, root)
        if bundle is None:
            raise SystemExit(f"{root} is not in {catalog}")
        name = bundle.name

        def ours() -> bool:
            return detect(root, stored_signatures(connection, name)).is_clean

        def floor() -> int:
            return len(floors.stat_files(root))

        floor()
        if not ours():
            raise SystemExit("the catalog is not up to date: this would measure something else")
        times: dict[str, list[float]] = {"ours": [], "floor": []}
        for _ in range(rounds):
            times["ours"].append(cpu_seconds(ours))
            times["floor"].append(cpu_seconds(floor))
    print(json.dumps(times))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
