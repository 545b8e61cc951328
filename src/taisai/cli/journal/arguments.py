"""The words for journals, keys and backups, and the commands they make."""

from __future__ import annotations

from typing import Final

from taisai.cli.arguments import CommandEntry, Parser, as_json, passphrase


def _journal(parser: Parser) -> None:
    parser.add_argument("journal", metavar="JOURNAL", help="a journal's file")


def _key(parser: Parser) -> None:
    parser.add_argument("--key", metavar="FILE", required=True, help="the key that signs the journal")
    passphrase(parser)


def _key_file(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a key file")


def _new_key(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="where the key goes; its public half goes to FILE.pub")
    parser.add_argument("--name", metavar="NAME", required=True, help="what its signatures are called")
    parser.add_argument("--passphrase-file", metavar="F", help="a passphrase that the key is encrypted by")


def _rotation(parser: Parser) -> None:
    parser.add_argument("--new", metavar="FILE", required=True, help="the key that signs from here on")
    parser.add_argument("--by", metavar="PERSON", required=True, help="who answers for it")
    parser.add_argument("--new-passphrase-file", metavar="F", help="the same of the new key")


def _output(parser: Parser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="write the checkpoint here, too")


def _copied(parser: Parser) -> None:
    parser.add_argument("journal", metavar="JOURNAL", help="a journal's file, at rest or being written")
    parser.add_argument("copy", metavar="COPY", help="a new file")


def _restored(parser: Parser) -> None:
    parser.add_argument("backup", metavar="BACKUP", help="a copy that `taisai backup` made")
    parser.add_argument("journal", metavar="JOURNAL", nargs="?", help="a new file")
    parser.add_argument("--check", action="store_true", help="check the backup, and restore nothing")


LEAVES: Final = (
    CommandEntry(
        "journal seal",
        "journal.sealing:seal",
        "Signs a checkpoint over all entries so far, and prints it: send it where nobody can alter it.",
        ("taisai journal seal evening.db --key evening.db.key -o checkpoint.txt",),
        (_journal, _key, _output, as_json),
    ),
    CommandEntry(
        "journal checkpoints",
        "journal.sealing:checkpoints",
        "The checkpoints of a journal: over how many entries, when, signed by whom.",
        ("taisai journal checkpoints evening.db",),
        (_journal, as_json),
    ),
    CommandEntry(
        "journal forget",
        "journal.sealing:forget",
        "Throws away the snapshots that make a start quick; every entry stays.",
        ("taisai journal forget evening.db",),
        (_journal, as_json),
    ),
    CommandEntry(
        "keys make",
        "journal.sealing:make",
        "A new key to sign journals with, in a file that only you may read.",
        ("taisai keys make house.key --name house-2026",),
        (_new_key, as_json),
    ),
    CommandEntry(
        "keys show",
        "journal.sealing:show",
        "The verifier key of a key file, private or public: give it to whoever checks your journals.",
        ("taisai keys show evening.db.key", "taisai keys show evening.db.key.pub --json"),
        (_key_file, passphrase, as_json),
    ),
    CommandEntry(
        "keys rotate",
        "journal.sealing:rotate",
        "Lets another key sign a journal from here on, vouched for by the one before, and seals it.",
        ("taisai keys rotate evening.db --key evening.db.key --new house.key --by Sue",),
        (_journal, _key, _rotation, as_json),
    ),
    CommandEntry(
        "backup",
        "journal.files:backup",
        "Copies a journal, even while it is being written, and checks the copy.",
        ("taisai backup evening.db evening-copy.db",),
        (_copied, as_json),
    ),
    CommandEntry(
        "restore",
        "journal.files:restore",
        "Puts a backup in place as a new journal after all of it was checked, or only checks it.",
        ("taisai restore evening-copy.db again.db", "taisai restore --check evening-copy.db"),
        (_restored, as_json),
    ),
)
