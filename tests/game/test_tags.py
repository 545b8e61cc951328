"""Every kind of command and event declares the tag under which journals store it."""

from __future__ import annotations

import ast
import inspect
import textwrap

import msgspec
import pytest

from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS
from taisai.game.commands import COMMANDS
from taisai.game.events import EVENTS
from taisai.game.messages import required_tag, tag_of
from taisai.journal.codec import RECORDS

KINDS = (*COMMANDS, *EVENTS, *HOUSE_COMMANDS, *HOUSE_EVENTS, *RECORDS)


def test_a_message_without_a_tag_of_its_own_is_an_error() -> None:
    with pytest.raises(TypeError, match="NewMessage has no tag: declare it as `class NewMessage"):
        msgspec.defstruct("NewMessage", [], tag_field="event", tag=required_tag)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_declares_its_tag_in_its_own_source(kind: type[msgspec.Struct]) -> None:
    (written,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(written, ast.ClassDef)
    declared = {keyword.arg: ast.literal_eval(keyword.value) for keyword in written.keywords}
    assert declared["tag"] == tag_of(kind)
