"""Keep a catalog of the present schema for the tests of upgrades: `python -m tests.schemas.record` at each release.

Writes `tests/schemas/NNNN.db.gz`, the example as this version catalogs it. Never record a
version again that was released.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path

from okf_catalog.catalog import database, maintenance
from okf_catalog.catalog.sync import sync, system_clock

HERE = Path(__file__).parent


def record(example: Path, target: Path) -> None:
    """Write the fixture of the present schema to `target`."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "catalog.db")
        connection = database.open_or_create(path)
        sync(connection, path, str(example), clock=system_clock, name="example")
        copy = os.path.join(place, "copy.db")
        maintenance.snapshot(connection, path, copy, replace=False, keep_roots=True)
        connection.close()
        target.write_bytes(gzip.compress(Path(copy).read_bytes(), mtime=0))


if __name__ == "__main__":
    fixture = HERE / f"{database.SCHEMA_VERSION:04}.db.gz"
    record(HERE.parent.parent / "examples" / "moonmoth", fixture)
    print(f"{fixture}: {fixture.stat().st_size:,} bytes")
