"""How hard the property tests search: `make test` a little, `make faults` far longer."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: the machines that run this are shared. A failure prints the blob that replays it.
settings.register_profile("quick", print_blob=True, deadline=None)
settings.register_profile("long", print_blob=True, deadline=None, max_examples=5_000)
settings.load_profile("long" if os.environ.get("TAISAI_LONG") else "quick")
