"""`python -m taisai`, the same as `taisai`."""

import sys

from taisai.cli import main

sys.exit(main())
