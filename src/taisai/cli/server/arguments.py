"""The words for founding and running a house, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import CommandEntry, Parser, as_json, passphrase


def _founding(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", help="where the house goes; made if it is not there")
    parser.add_argument(
        "--administrator", metavar="PERSON", required=True, help="the first administrator, by name"
    )
    parser.add_argument("--house", metavar="NAME", help="what the house is called (DIR's name unless said)")
    parser.add_argument("--currency", metavar="CUR", default="SGD", help="its currency (SGD unless said)")
    parser.add_argument(
        "--zone", metavar="ZONE", default="Asia/Singapore", help="its time zone (Asia/Singapore unless said)"
    )
    parser.add_argument(
        "--password-file", metavar="F", help="where the administrator's password is; asked for unless said"
    )
    parser.add_argument("--passphrase-file", metavar="F", help="a passphrase that the key is encrypted by")


def _approved(parser: Parser) -> None:
    parser.add_argument(
        "books", metavar="BOOK", nargs="+", help="a rulebook's id (`taisai rules list`) or a TOML file"
    )
    parser.add_argument("--key", metavar="FILE", required=True, help="the key that signs the list")
    passphrase(parser)
    parser.add_argument(
        "--from", metavar="DATE", dest="since", required=True, help="the first day, such as 2026-11-16"
    )
    parser.add_argument("--until", metavar="DATE", help="the last day; for good unless said")
    parser.add_argument("--keep", metavar="FILE", help="a list by the same key, whose lines come first")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the list into this new file")


def _demonstration(parser: Parser) -> None:
    parser.add_argument("--port", metavar="P", help="where to listen (8080, or the next that is free)")
    parser.add_argument("--no-open", action="store_true", help="open no browser")
    parser.add_argument("--fast", action="store_true", help="no waiting: a round in about two seconds")
    parser.add_argument("--data", metavar="DIR", help="keep the journal there, and go on with it next time")
    parser.add_argument("--rounds", metavar="N", help="stop when every table has played so many rounds")
    parser.add_argument("--seed", metavar="N", help="how virtual people behave, the same again")


def _serving(parser: Parser) -> None:
    parser.add_argument("--config", metavar="FILE", default="casino.toml", help="the house's casino.toml")
    parser.add_argument("--check", action="store_true", help="recover and check, then stop: nothing listens")


def _looking(parser: Parser) -> None:
    parser.add_argument(
        "url", metavar="URL", nargs="?", default="http://127.0.0.1:8080", help="the floor's address"
    )
    parser.add_argument("--once", action="store_true", help="one look, not a live view")


def _reporting(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a journal, in use or not, or an export of one")
    parser.add_argument(
        "--day", metavar="DAY", help="a gaming day such as 2026-11-16 (the latest unless said)"
    )


def _unlocking(parser: Parser) -> None:
    parser.add_argument("person", metavar="PERSON", help="who may sign in again, by name")
    parser.add_argument("--config", metavar="FILE", default="casino.toml", help="the house's casino.toml")
    parser.add_argument(
        "--reason",
        metavar="TEXT",
        default="nobody else could unlock",
        help="why, for the journal (nobody else could unlock, unless said)",
    )


LEAVES: Final = (
    CommandEntry(
        "serve",
        "server.serve:run",
        "Runs a house for real: recovery, self-checks, then the floor, until it is stopped.",
        ("taisai serve --config lotus/casino.toml", "taisai serve --config lotus/casino.toml --check"),
        (_serving,),
    ),
    CommandEntry(
        "status",
        "server.status:run",
        "How a floor is, live: journal, connections, every table's phase.",
        ("taisai status", "taisai status http://127.0.0.1:8080 --json"),
        (_looking, as_json),
    ),
    CommandEntry(
        "report",
        "server.report:run",
        "What each table took in a gaming day: drop, win and hold.",
        ("taisai report lotus/journal.db", "taisai report evening.jsonl --day 2026-11-16 --json"),
        (_reporting, as_json),
    ),
    CommandEntry(
        "demo",
        "server.demo:run",
        "A casino of play money, live: four tables, virtual people, and a lobby into every role.",
        ("taisai demo", "taisai demo --data evening --no-open", "taisai demo --fast --rounds 2 --port 0"),
        (_demonstration,),
    ),
    CommandEntry(
        "init",
        "server.setup:init",
        "Founds a house: casino.toml, keys, approvals, and a journal with its first administrator.",
        ('taisai init lotus --house "Lotus" --administrator "Ann Tan" --password-file secret',),
        (_founding, as_json),
    ),
    CommandEntry(
        "unlock",
        "server.setup:unlock",
        "Unlocks someone with the house's key while nothing runs, where no two others can; it is recorded.",
        (
            'taisai unlock "Ann Tan" --config lotus/casino.toml',
            'taisai unlock "Ann Tan" --config lotus/casino.toml --reason "locked by a stranger"',
        ),
        (_unlocking, as_json),
    ),
    CommandEntry(
        "approve",
        "server.setup:approve",
        "Signs a list of rulebooks that may be played for money, and from which day to which.",
        (
            "taisai approve us-sic-bo --key regulator.key --from 2026-11-16 -o approvals.txt",
            "taisai approve my.toml --key regulator.key --from 2027-01-01 --keep approvals.txt",
        ),
        (_approved, as_json),
    ),
)
