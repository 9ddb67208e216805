"""The receipt check for shares: a share of nights lies between none and all."""

from __future__ import annotations

from typing import Any

from receipt_check import attest as attest_receipt


def attest(receipt: dict[str, Any], agreed_sql: str, shown: object) -> dict[str, str]:
    """Check the receipt first, then the bounds of the share."""
    verdict = attest_receipt(receipt, agreed_sql, shown)
    if verdict["verdict"] != "ok":
        return verdict
    if not isinstance(shown, int | float) or not 0 <= shown <= 1:
        return {"verdict": "refused", "reason": "a share outside 0 to 1"}
    return verdict
