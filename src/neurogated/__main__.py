"""`python -m neurogated`."""

import sys

from neurogated.cli import main

if __name__ == "__main__":
    sys.exit(main())
