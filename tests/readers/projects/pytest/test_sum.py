import os
import unittest

import pytest


def test_adds():
    assert 1 + 2 == 3


def test_with_subtests(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number == number
    with subtests.test("holds what the work says"):
        assert not os.path.exists("broken")


@pytest.mark.parametrize("number", [1, 2])
def test_is_its_own(number):
    assert number == number


def test_stays():
    assert True


@pytest.mark.skip(reason="later")
def test_divides():
    assert 1 == 2


@pytest.mark.xfail
def test_multiplies():
    assert 1 == 2


class Case(unittest.TestCase):
    def test_subtests(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertEqual(number, number)
