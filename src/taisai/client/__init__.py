"""The typed client of a floor: it knows the wire, and nothing else."""

from taisai.client.cashier import Cashier
from taisai.client.client import Client
from taisai.client.connection import Connection, Dial, at, connect
from taisai.client.console import Console
from taisai.client.errors import ClientError, Disconnected, Refused
from taisai.client.feeds import Change
from taisai.client.office import Office, sign_in
from taisai.client.pace import Pace
from taisai.client.terminal import Display, Terminal
from taisai.client.who import Device, Staff, Visitor, Who

__all__ = [
    "Cashier",
    "Change",
    "Client",
    "ClientError",
    "Connection",
    "Console",
    "Device",
    "Dial",
    "Disconnected",
    "Display",
    "Office",
    "Pace",
    "Refused",
    "Staff",
    "Terminal",
    "Visitor",
    "Who",
    "at",
    "connect",
    "sign_in",
]
