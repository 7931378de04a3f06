"""Answers calls of the gate with the installed Python package: the vectors of the tests, on their way through Python.

A call is a function's name and its input, each as its length (32 bits, little-endian) and UTF-8. The answer is a byte,
0 for an answer and 1 for a failure, and a text in the same form. The end of the input ends it.
"""

import struct
import sys
from typing import BinaryIO, Optional

import ralph_gate


def read_text(stream: BinaryIO) -> Optional[str]:
    """The next text, or None at the end."""
    head = stream.read(4)
    if not head:
        return None
    (length,) = struct.unpack("<I", head)
    text = stream.read(length)
    if len(text) != length:
        raise EOFError(f"the input ends after {len(text)} of {length} bytes")
    return text.decode()


def answer(function: str, text: str) -> "tuple[int, str]":
    try:
        return 0, ralph_gate.call(function, text)
    except Exception as error:
        return 1, f"{type(error).__name__}: {error}"


def main() -> None:
    calls, answers = sys.stdin.buffer, sys.stdout.buffer
    while (function := read_text(calls)) is not None:
        text = read_text(calls)
        if text is None:
            raise EOFError("the input ends after a function's name")
        status, said = answer(function, text)
        said_bytes = said.encode()
        answers.write(struct.pack("<BI", status, len(said_bytes)) + said_bytes)
        answers.flush()


if __name__ == "__main__":
    main()
