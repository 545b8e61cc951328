"""The words for auditors, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import CommandEntry, Once, Parser, as_json


def _file(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a journal's file, or an export of one (jsonl)")


def _key(parser: Parser) -> None:
    parser.add_argument(
        "--key",
        metavar="KEY",
        action=Once,
        help="the operator's verifier key, or the .pub file it is in; got elsewhere",
    )


def _held(parser: Parser) -> None:
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        action="append",
        default=[],
        help="a checkpoint that was kept elsewhere; give as many as you like",
    )


def _shown(parser: Parser) -> None:
    parser.add_argument(
        "--table", metavar="T", help="only this table (needed with --round if there are several)"
    )
    parser.add_argument("--round", metavar="N", help="retell this round")
    parser.add_argument(
        "--seat", metavar="S", help="with --round: only this seat's bets and what concerns all"
    )
    parser.add_argument(
        "--last", metavar="N", default="30", help="so many of the latest rounds (30 unless said)"
    )


def _export(parser: Parser) -> None:
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        required=True,
        help="jsonl (every byte that is signed), csv or parquet (for spreadsheets and data frames)",
    )
    parser.add_argument(
        "--of", metavar="WHAT", default="events", help="events, a row each (unless said), or bets"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="a new file (standard output unless said)"
    )


def _proved(parser: Parser) -> None:
    one_of = parser.add_mutually_exclusive_group(required=True)
    one_of.add_argument("--position", metavar="N", help="prove that entry N is in what was signed")
    one_of.add_argument(
        "--from", metavar="FILE", dest="held", help="prove that the journal continues this older checkpoint"
    )
    parser.add_argument(
        "--size",
        metavar="M",
        help="with --position: by the checkpoint over M entries (the latest unless said)",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="a new file (standard output unless said)"
    )


def _proof(parser: Parser) -> None:
    parser.add_argument("proof", metavar="PROOF", help="a file that `taisai audit prove` wrote")
    parser.add_argument(
        "--key",
        metavar="KEY",
        action="append",
        default=[],
        help="a verifier key of the operator's, or its .pub file; more than one where keys have changed",
    )


LEAVES: Final = (
    CommandEntry(
        "audit verify",
        "audit.verify:verify",
        "Proves a journal: chain, signatures, and every decision taken again by the stored rulebooks.",
        (
            "taisai audit verify evening.db",
            "taisai audit verify evening.db --key evening.db.key.pub --checkpoint checkpoint.txt",
            "taisai audit verify evening.jsonl --json",
        ),
        (_file, _key, _held, as_json),
    ),
    CommandEntry(
        "audit show",
        "audit.show:run",
        "The rounds of a journal as they are written, or one of them retold, entry by entry, bet by bet.",
        (
            "taisai audit show evening.db",
            "taisai audit show evening.db --table SB1 --round 2",
            "taisai audit show evening.db --table SB1 --round 2 --seat 1 --json",
        ),
        (_file, _shown, as_json),
    ),
    CommandEntry(
        "audit export",
        "audit.verify:export",
        "Writes a journal as lines of JSON that anyone can check, or as a table of events or of bets.",
        (
            "taisai audit export evening.db --format jsonl -o evening.jsonl",
            "taisai audit export evening.db --format csv --of bets",
            "taisai audit export evening.db --format parquet -o evening.parquet",
        ),
        (_file, _export),
    ),
    CommandEntry(
        "audit prove",
        "audit.verify:prove",
        "A short proof that an entry is in what was signed, or that what was signed later continues it.",
        (
            "taisai audit prove evening.db --position 12 -o proof.json",
            "taisai audit prove evening.db --from checkpoint.txt",
        ),
        (_file, _proved),
    ),
    CommandEntry(
        "audit check",
        "audit.verify:check",
        "Checks such a proof, with nothing but the proof and, if you have it, the operator's key.",
        ("taisai audit check proof.json --key evening.db.key.pub",),
        (_proof, as_json),
    ),
)
