"""Sic Bo as a Gymnasium environment for reinforcement learning, with the pay table of a rulebook.

>>> import gymnasium
>>> table = gymnasium.make("taisai/SicBo-v0", book="rws-sic-bo-etg-v8", layout="A")
>>> seen, _ = table.reset(seed=7)
>>> chips = table.action_space.sample() * 0
>>> chips[table.get_wrapper_attr("areas").index("small")] = 5
>>> seen, reward, _, _, info = table.step(chips)
>>> info["faces"], float(reward), float(seen["bankroll"][0])
((4, 5, 6), -5.0, 995.0)
"""

from __future__ import annotations

from typing import Any, Final

from taisai.rules import Outcome, RulesError, rulebook
from taisai.rules.chance import ChanceKind
from taisai.study import needed

with needed("Gymnasium", "gym"):
    import gymnasium
    import numpy as np
    import numpy.typing as npt
    from gymnasium import spaces

NAME: Final = "taisai/SicBo-v0"
MOST_CHIPS: Final = 1_000
MOST_BANKROLL: Final = 1_000_000_000
MOST_ROUNDS: Final = 1_000_000
_FACES: Final = 6

Seen = dict[str, Any]


class SicBoEnv(gymnasium.Env[Seen, npt.NDArray[np.int64]]):
    """One player at a table with three dice, or with cards from a shoe.

    An action is the number of chips on each area, in the order of `areas`. If the bankroll does not cover
    them, the round is played without bets. The reward is the net in chips.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  Gymnasium reads a dictionary

    def __init__(
        self,
        book: str = "rws-sic-bo-etg-v8",
        layout: str | None = None,
        *,
        bankroll: int = 1_000,
        most_chips: int = 10,
        rounds: int = 1_000,
        decks: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        for what, value, most in (
            ("bankroll", bankroll, MOST_BANKROLL),
            ("most_chips", most_chips, MOST_CHIPS),
            ("rounds", rounds, MOST_ROUNDS),
        ):
            if not 1 <= value <= most:
                raise RulesError(f"expected {what} from 1 to {most}, got {value}")
        if render_mode not in {None, "ansi"}:
            raise RulesError(f"expected render_mode 'ansi' or None, got {render_mode!r}")
        self._book = rulebook(book)
        self._matrix = self._book.matrix(layout)
        self._rule = self._book.chance_rule
        self._decks = self._rule.decks if decks is None else decks
        self._book.chance(decks=decks)  # raises an error for an invalid number of decks
        self._begins_with, self._rounds = bankroll, rounds
        self._nets = np.array(self._matrix.nets, dtype=np.float64) / self._matrix.denominator
        self.areas: Final = tuple(str(area) for area in self._matrix.areas)
        """The areas, in the order of an action."""
        self.render_mode = render_mode
        self.action_space = spaces.MultiDiscrete([most_chips + 1] * len(self.areas))
        highest = bankroll + rounds * most_chips * float(self._nets.sum(axis=0).max())
        cards = self._decks * self._rule.cards_per_face
        self.observation_space = spaces.Dict(
            {
                "bankroll": spaces.Box(0, highest, (1,), np.float64),
                "rounds_left": spaces.Box(0, rounds, (1,), np.int64),
                "last": spaces.Box(0, _FACES, (3,), np.int64),
                "left": spaces.Box(0, max(cards, 1), (_FACES,), np.int64),
            }
        )
        self._bankroll = float(bankroll)
        self._played = 0
        self._last: tuple[int, ...] = (0, 0, 0)
        self._left = np.zeros(_FACES, dtype=np.int64)
        self._shuffle()

    @property
    def _is_shoe(self) -> bool:
        return self._rule.kind is ChanceKind.CARDS

    def _shuffle(self) -> None:
        """Puts all cards back; with dice, `left` stays 0."""
        self._left[:] = self._decks * self._rule.cards_per_face if self._is_shoe else 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Starts an episode with the initial bankroll and a full shoe."""
        super().reset(seed=seed, options=options)
        self._bankroll, self._played, self._last = float(self._begins_with), 0, (0, 0, 0)
        self._shuffle()
        return self._seen(), {}

    def step(self, action: npt.NDArray[np.int64]) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        chips = np.asarray(action, dtype=np.int64)
        if chips.shape != (len(self.areas),) or not self.action_space.contains(chips):
            raise RulesError(
                f"expected chips on {len(self.areas)} areas, within the action space, got {action!r}"
            )
        is_placed = chips.sum() <= self._bankroll
        outcome = self._draw()
        net = float(chips @ self._nets[:, outcome.index]) if is_placed else 0.0
        self._bankroll += net
        self._played += 1
        self._last = tuple(int(face) for face in outcome.faces)
        staked = int(chips.sum()) if is_placed else 0
        info = {"faces": self._last, "placed": bool(is_placed), "staked": staked}
        return self._seen(), net, self._bankroll < 1, self._played >= self._rounds, info

    def _draw(self) -> Outcome:
        if not self._is_shoe:
            return Outcome.of(*(int(face) for face in self.np_random.integers(1, _FACES + 1, 3)))
        if self._left.sum() < 2 * 3:  # the shoe is shuffled before its last cards
            self._shuffle()
        faces = []
        for _ in range(3):
            face = int(self.np_random.choice(_FACES, p=self._left / self._left.sum()))
            self._left[face] -= 1
            faces.append(face + 1)
        return Outcome.of(*faces)

    def _seen(self) -> Seen:
        return {
            "bankroll": np.array([self._bankroll]),
            "rounds_left": np.array([self._rounds - self._played], dtype=np.int64),
            "last": np.array(self._last, dtype=np.int64),
            "left": self._left.copy(),
        }

    def render(self) -> str | None:
        """The last outcome and the bankroll, as text."""
        if self.render_mode != "ansi":
            return None
        shown = " ".join(map(str, self._last)) if any(self._last) else "–"
        return f"round {self._played}: {shown}, bankroll {self._bankroll:g}"


def register() -> None:
    """Registers `taisai/SicBo-v0` with Gymnasium; importing this module does it too."""
    if NAME not in gymnasium.registry:
        gymnasium.register(id=NAME, entry_point="taisai.study.gym:SicBoEnv")


register()
