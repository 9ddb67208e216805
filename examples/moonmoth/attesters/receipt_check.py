"""Accept a receipt only when the agreed SQL ran and its own result is shown."""

from __future__ import annotations

import re
from typing import Any


def canonical(sql: str) -> str:
    """Drop comments, fold case and white space."""
    without_comments = re.sub(r"--[^\n]*", " ", sql)
    return " ".join(without_comments.lower().split()).rstrip("; ")


def attest(receipt: dict[str, Any], agreed_sql: str, shown: object) -> dict[str, str]:
    """Return a verdict and, when it is not ok, the reason for it."""
    if not receipt.get("run_id"):
        return {"verdict": "refused", "reason": "the receipt has no run_id"}
    if canonical(str(receipt.get("executed_sql", ""))) != canonical(agreed_sql):
        return {"verdict": "refused", "reason": "another statement was run"}
    result = receipt.get("result") or []
    if not result or result[0] != shown:
        return {"verdict": "refused", "reason": "the shown value is not the result"}
    return {"verdict": "ok"}
