"""Self-checks: what must hold before the first socket opens.

`opened` looks before anything is written, recovery comes next, `proven` after it; each tells all it finds.
"""

from taisai.server.runtime.checks.findings import Finding, StartUp
from taisai.server.runtime.checks.opening import LEAST_FREE, Opened, opened
from taisai.server.runtime.checks.people import LEAST_SUPERVISING, too_few
from taisai.server.runtime.checks.proving import proven

__all__ = [
    "LEAST_FREE",
    "LEAST_SUPERVISING",
    "Finding",
    "Opened",
    "StartUp",
    "opened",
    "proven",
    "too_few",
]
