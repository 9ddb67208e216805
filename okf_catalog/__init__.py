"""A SQLite catalog of OKF bundles. Importing this costs nothing but the version."""

__version__ = "0.1.0"
