"""What the library does, for whoever listens: the logger `okf_catalog`.

The logging module is only used where somebody has loaded it (`-v`, or a program of one's
own): importing it would cost each call of the command line several milliseconds.
"""

from __future__ import annotations

import sys

LOGGER = "okf_catalog"


def info(message: str, *values: object) -> None:
    """A step worth knowing (`-v`)."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(LOGGER).info(message, *values)


def debug(message: str, *values: object) -> None:
    """A detail for finding faults (`-vv`)."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(LOGGER).debug(message, *values)


def is_heard() -> bool:
    """True where details are worth putting together."""
    logging = sys.modules.get("logging")
    return logging is not None and bool(logging.getLogger(LOGGER).isEnabledFor(logging.DEBUG))
