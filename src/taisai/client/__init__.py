"""The typed client of a server. It depends on the protocol only."""

from taisai.client.client import Client
from taisai.client.connection import (
    ClientError,
    Connection,
    Device,
    Dial,
    Disconnected,
    Pace,
    Refused,
    Staff,
    Visitor,
    Who,
    at,
    connect,
)
from taisai.client.feeds import Change
from taisai.client.office import Office, sign_in
from taisai.client.roles import Cashier, Console, Display, Terminal

__all__ = [
    "Cashier", "Change", "Client", "ClientError", "Connection", "Console", "Device", "Dial",
    "Disconnected", "Display", "Office", "Pace", "Refused", "Staff", "Terminal", "Visitor", "Who", "at",
    "connect", "sign_in",
]  # fmt: skip
