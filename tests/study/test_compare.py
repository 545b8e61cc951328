"""Two pay tables side by side."""

from fractions import Fraction

from taisai.rules import rulebook
from taisai.study.measures import Side, compare

RWS = rulebook("rws-sic-bo-etg-v8")
US = rulebook("us-sic-bo")


def test_every_area_of_both_sides_is_there_once_with_its_edge() -> None:
    left, right = Side(RWS.matrix("A"), RWS.chance()), Side(US.matrix(), US.chance())
    found = compare(left, right)
    areas = [pair.area for pair in found.pairs]
    assert len(areas) == len(set(areas)) == len({*left.matrix.areas, *right.matrix.areas})
    for pair in found.pairs:
        assert (pair.left is not None) == (pair.area in left.matrix.areas)
        assert (pair.right is not None) == (pair.area in right.matrix.areas)
    by_area = {str(pair.area): pair for pair in found.pairs}
    # 8.5 to 1 against 8 to 1 on a total of 8, which 21 of 216 rolls show.
    assert by_area["total-8"].edge_more == Fraction(21, 216) * (Fraction(17, 2) - 8)
    assert by_area["small"].edge_more == 0
    assert by_area["even"].edge_more is None


def test_the_areas_that_differ_are_counted_and_told() -> None:
    same = compare(Side(RWS.matrix("A"), RWS.chance()), Side(RWS.matrix("A"), RWS.chance()))
    assert not same.differing
    assert same.report().notes == (f"0 of {len(same.pairs)} areas differ.",)
    assert {area["edge_more"] for area in same.facts()["areas"]} == {"0"}
