"""Every kind of command and event declares the tag under which journals store it."""

from __future__ import annotations

import msgspec
import pytest

from taisai.game.cage.messages import HouseCommand, HouseEvent
from taisai.game.commands import Command, tag_of
from taisai.game.events import Event

BASES = (Command, Event, HouseCommand, HouseEvent)


@pytest.mark.parametrize("base", BASES)
def test_a_message_without_a_tag_of_its_own_is_an_error(base: type[msgspec.Struct]) -> None:
    with pytest.raises(TypeError, match="NewMessage has no tag: declare it as `class NewMessage"):
        msgspec.defstruct("NewMessage", [], bases=(base,), frozen=True)


@pytest.mark.parametrize("base", BASES)
def test_a_tag_does_not_follow_the_class_name(base: type[msgspec.Struct]) -> None:
    assert (
        tag_of(msgspec.defstruct("Renamed", [], bases=(base,), frozen=True, tag="as-before")) == "as-before"
    )
