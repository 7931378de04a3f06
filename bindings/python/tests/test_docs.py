"""The examples in the documentation of the modules hold."""

import doctest
import unittest

import ralph_gate
import ralph_gate._engine


class Examples(unittest.TestCase):
    def test_they_hold(self) -> None:
        for module in (ralph_gate, ralph_gate._engine):
            result = doctest.testmod(module)
            self.assertGreater(result.attempted, 0)
            self.assertEqual(result.failed, 0)
