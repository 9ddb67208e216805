"""`datasette serve catalog.db -m datasette-metadata.yml` gives titles, facets and queries."""

from __future__ import annotations

import asyncio

import yaml
from datasette.app import Datasette

from tests.conftest import EXAMPLE, ROOT


def test_catalog_is_served_with_its_metadata(run_cli, tmp_path):
    assert run_cli("sync", EXAMPLE)[0] == 0
    metadata = yaml.safe_load((ROOT / "datasette-metadata.yml").read_text())

    async def pages():
        site = Datasette([str(tmp_path / "catalog.db")], metadata=metadata)
        await site.invoke_startup()
        view = await site.client.get("/catalog/catalog.json?_size=1&_shape=objects&type=Metric")
        html = await site.client.get("/catalog/catalog")
        queries = {name: (await site.client.get(f"/catalog/{name}")).status_code
                   for name in metadata["databases"]["catalog"]["queries"]}  # fmt: skip
        names = {table["name"]: table["hidden"] for table in (await site.client.get("/catalog.json")).json()["tables"]}
        return view.json(), html, queries, names

    view, html, queries, names = asyncio.run(pages())
    assert view["filtered_table_rows_count"] == 6
    assert html.status_code == 200
    assert "<h1" in html.text
    assert 'data-column="effective_status"' in html.text
    assert set(queries.values()) == {200}
    assert not names["concepts"]
    assert names["directories"]
    assert names["bundle_roots"]
