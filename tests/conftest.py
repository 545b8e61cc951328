"""How hard the property tests search: `make test` a little, `make faults` far longer."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: the machines that run this are shared. A failure prints the blob that replays it.
settings.register_profile("quick", print_blob=True, deadline=None)
settings.register_profile("long", print_blob=True, deadline=None, max_examples=5_000)
settings.load_profile("long" if os.environ.get("TAISAI_LONG") else "quick")

# On CI pytest compares both sides of a failed assertion to the end, however long: with thousands of figures,
# which a sabotage brings about on purpose, it never comes to one. Here it tells as much as anywhere else.
for variable in ("CI", "BUILD_NUMBER"):
    os.environ.pop(variable, None)
