"""A check policy: no line of the notes has a word such as TODO, and the check that the settings name passed.

The host calls `describe` and `evaluate`, each in a new instance, and gives nothing but their arguments and the bytes
of artifacts: there are no files, no clock, no environment. `wit/check-policy.wit` says what everything means; names
are in snake case here (`settings-schema` is `settings_schema`), and the cases of an enum are in capitals.
"""

import json
from dataclasses import dataclass, field
from typing import List, Optional

# componentize-py makes these modules from `wit/`.
from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.policy import Description, Evidence, FindingOutcome, Judgement, PolicyOutcome
from wit_world.imports import artifacts

ARTIFACT = "notes"
"""The artifact that is searched, where there is one."""
WORDS = ["TODO", "FIXME"]
"""What is searched for, unless the settings say something else."""
MOST_LINES = 20
"""After so many lines with such a word the others are not looked at."""
CHUNK = 32768
"""How many bytes are asked for at a time."""

SETTINGS_SCHEMA = """{
  "type": "object",
  "properties": {
    "words": {
      "description": "No line of the notes may contain one of these.",
      "type": "array",
      "items": { "type": "string", "minLength": 1 },
      "default": ["TODO", "FIXME"]
    },
    "check": {
      "description": "The id of a check that must have passed.",
      "type": "string"
    }
  },
  "additionalProperties": false
}"""


class Policy(exports.Policy):
    """What the host calls. The class must have the name of the interface."""

    def describe(self) -> Description:
        return Description(
            name="{{name}}",
            version="0.1.0",
            summary="No line of the notes has a word such as TODO, and a named check passed.",
            settings_schema=SETTINGS_SCHEMA,
            # The notes may be missing. What is listed here may not.
            wants=[],
        )

    def evaluate(self, evidence: Evidence, settings: str) -> Judgement:
        try:
            wanted = parse(settings)
        except ValueError:
            return unknown(
                "settings: `words` must be a list of texts that are not empty, `check` a text, and nothing else"
            )
        try:
            notes = read(evidence)
        except Err:
            return unknown("notes: the host gives no more bytes of them")
        reasons = words_left(notes, wanted.words)
        if wanted.check is not None:
            reasons += not_passed(evidence, wanted.check)
        return Judgement(PolicyOutcome.FAIL if reasons else PolicyOutcome.PASS, reasons)


@dataclass
class Settings:
    words: List[str] = field(default_factory=lambda: WORDS)
    check: Optional[str] = None


def parse(text: str) -> Settings:
    """The settings; a `ValueError` for everything that does not fit the schema."""
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError("no object")
    settings = Settings()
    for name, value in fields.items():
        if name == "words" and isinstance(value, list) and all(is_text(word) and word for word in value):
            settings.words = value
        elif name == "check" and is_text(value):
            settings.check = value
        else:
            raise ValueError(name)
    return settings


def is_text(value: object) -> bool:
    """Whether it is a text. One with half a character, which the host does not take, is a `ValueError`."""
    return isinstance(value, str) and value.encode() is not None


def read(evidence: Evidence) -> bytes:
    """All bytes of the notes; none where there are no notes."""
    notes = bytearray()
    if all(artifact.name != ARTIFACT for artifact in evidence.artifacts):
        return bytes(notes)
    while more := artifacts.read(ARTIFACT, len(notes), CHUNK):
        notes += more
    return bytes(notes)


def words_left(notes: bytes, words: List[str]) -> List[str]:
    """A reason for each line that has one of the words. Bytes are compared, so that notes need not be UTF-8."""
    # To look for a word in all of the notes is cheaper than to look for it in each line.
    wanted = [(word, word.encode()) for word in words if word.encode() in notes]
    reasons: List[str] = []
    if not wanted:
        return reasons
    for number, line in enumerate(notes.split(b"\n"), start=1):
        found = next((word for word, its_bytes in wanted if its_bytes in line), None)
        if found is not None:
            reasons.append(f"{ARTIFACT}:{number}: {found}")
        if len(reasons) == MOST_LINES:
            break
    return reasons


def not_passed(evidence: Evidence, check: str) -> List[str]:
    """Why the check does not count as passed: one reason or none."""
    finding = next((it for it in evidence.findings if it.id == check), None)
    if finding is None:
        return [f"{check}: there is no such check"]
    if finding.outcome is FindingOutcome.PASS:
        return []
    why = f": {finding.reason}" if finding.reason else ""
    return [f"{check}: {finding.outcome.name.lower()}{why}"]


def unknown(reason: str) -> Judgement:
    return Judgement(PolicyOutcome.UNKNOWN, [reason])
