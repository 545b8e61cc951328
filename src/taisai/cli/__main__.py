"""`python -m taisai.cli`, the same as `taisai`."""

import sys

from taisai.cli import main

sys.exit(main())
