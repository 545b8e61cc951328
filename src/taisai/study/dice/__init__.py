"""The dice lab: are these dice fair, is this stream random?"""

from taisai.study.dice.lab import DiceTests, OneTest, dice_tests
from taisai.study.dice.mapping import MappingProof, faces_of, mapping_proof
from taisai.study.dice.rolls import read_rolls
from taisai.study.dice.tally import Tally, tallied

__all__ = [
    "DiceTests",
    "MappingProof",
    "OneTest",
    "Tally",
    "dice_tests",
    "faces_of",
    "mapping_proof",
    "read_rolls",
    "tallied",
]
