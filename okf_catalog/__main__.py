"""`python -m okf_catalog`."""

import sys

from okf_catalog.cli import main

if __name__ == "__main__":
    sys.exit(main())
