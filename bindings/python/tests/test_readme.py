"""What the README shows is what happens."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks(language: str) -> "list[str]":
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


class Readme(unittest.TestCase):
    def test_the_examples_print_what_stands_below_them(self) -> None:
        examples, expected = blocks("python"), blocks("text")
        self.assertGreater(len(examples), 0)
        self.assertEqual(len(examples), len(expected))
        self.addCleanup(os.chdir, os.getcwd())
        for example, text in zip(examples, expected):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            os.chdir(folder.name)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(example, str(README), "exec"), {"__name__": "__main__"})
            self.assertEqual(printed.getvalue(), text)
