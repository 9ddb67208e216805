"""The catalog: one SQLite file that follows the bundles."""
