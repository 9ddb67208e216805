"""Make the pictures of docs/datasette.md from the example bundle: `python docs/screenshots.py`.

Needs Chromium (Debian: chromium). Look at what comes out before you commit it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = {
    "home": ("/-/okf", "1100,760"),
    "search": ("/-/okf?q=revenue", "1100,760"),
    "concept": ("/-/okf/moonmoth/metrics/on-time-arrival.md", "1100,760"),
    "directory": ("/-/okf/moonmoth/", "1100,760"),
    "graph": ("/-/okf-graph/moonmoth", "1100,760"),
    "table": ("/catalog", "1280,860"),
    "phone": ("/-/okf/moonmoth/metrics/on-time-arrival.md", "390,780"),
    "home-dark": ("/-/okf", "1100,760"),
    "search-dark": ("/-/okf?q=revenue", "1100,760"),
    "concept-dark": ("/-/okf/moonmoth/metrics/on-time-arrival.md", "1100,760"),
    "graph-dark": ("/-/okf-graph/moonmoth", "1100,760"),
}  # fmt: skip
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
         "--disable-component-update", "--disable-sync", "--virtual-time-budget=8000"]  # fmt: skip


def main() -> int:
    """Start a server on the examples and photograph it."""
    chromium = shutil.which("chromium") or sys.exit("no chromium here")
    with tempfile.TemporaryDirectory() as scratch:
        bundles = [HERE.parent / "examples" / name for name in ("moonmoth", "lanternworks")]
        server = subprocess.Popen(
            [sys.executable, "-m", "okf_catalog", "server", *map(str, bundles), "-p", "0"],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "OKF_HOME": scratch},
        )  # fmt: skip
        try:
            line = server.stdout.readline() if server.stdout else ""
            base = next(word for word in line.split() if word.startswith("http")).partition("/-/okf")[0]
            for _ in range(100):
                try:
                    urllib.request.urlopen(f"{base}/-/okf", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            for name, (page, size) in PAGES.items():
                target = HERE / "pictures" / f"{name}.png"
                dark = ["--blink-settings=preferredColorScheme=0"] if name.endswith("-dark") else []
                subprocess.run(
                    [chromium, *FLAGS, *dark, f"--user-data-dir={scratch}/profile", f"--window-size={size}", f"--screenshot={target}", base + page],
                    check=True, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                print(target)
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
