"""What a start found: one line a check, and whether nothing stands against it."""

from __future__ import annotations

from dataclasses import dataclass, field

from taisai.rules.errors import printable


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    what: str
    passed: bool
    says: str
    warns: bool = False
    """Whether someone should do something about it, though it stands against nothing."""

    @property
    def line(self) -> str:
        """The finding for people."""
        mark = "✗" if not self.passed else "!" if self.warns else "✓"
        return f"{mark} {self.what}: {self.says}"


@dataclass(slots=True)
class StartUp:
    """The findings of one start, in order."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing stands against a start; a start that checked nothing has not passed."""
        return bool(self.findings) and all(one.passed for one in self.findings)

    def lines(self) -> list[str]:
        """All findings for people."""
        return [one.line for one in self.findings]

    def passes(self, what: str, says: str) -> None:
        """Something is as it should be."""
        self.findings.append(Finding(what, passed=True, says=says))

    def warns(self, what: str, says: str) -> None:
        """Something stands against nothing, and should still be looked after."""
        self.findings.append(Finding(what, passed=True, says=says, warns=True))

    def fails(self, what: str, says: object) -> None:
        """Something stands against a start."""
        self.findings.append(Finding(what, passed=False, says=printable(str(says), 1_000)))
