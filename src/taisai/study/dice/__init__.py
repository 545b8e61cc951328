"""The dice lab: are these dice fair, is this stream random?"""

from taisai.study.dice.lab import DiceTests, MappingProof, OneTest, dice_tests, faces_of, mapping_proof
from taisai.study.dice.rolls import Tally, read_rolls, tallied
from taisai.study.dice.watch import DiceWatch

__all__ = [
    "DiceTests",
    "DiceWatch",
    "MappingProof",
    "OneTest",
    "Tally",
    "dice_tests",
    "faces_of",
    "mapping_proof",
    "read_rolls",
    "tallied",
]
