// A check policy: no line of the notes has a word such as TODO, and the check that the settings name passed.
//
// The host calls `describe` and `evaluate`, each in a new instance, and gives nothing but their arguments and the bytes
// of artifacts: there are no files, no clock, no environment. `wit/check-policy.wit` says what everything means; names
// are in camel case here (`settings-schema` is `settingsSchema`), and the cases of an enum are texts.

import artifacts from "ralph:gate/artifacts@0.1.0";

/** The artifact that is searched, where there is one. */
const ARTIFACT = "notes";
/** What is searched for, unless the settings say something else. */
const WORDS = ["TODO", "FIXME"];
/** After so many lines with such a word the others are not looked at. */
const MOST_LINES = 20;
/** How many bytes are asked for at a time. */
const CHUNK = 32768;

const SETTINGS_SCHEMA = `{
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
}`;

export const policy = {
  describe() {
    return {
      name: "{{name}}",
      version: "0.1.0",
      summary: "No line of the notes has a word such as TODO, and a named check passed.",
      settingsSchema: SETTINGS_SCHEMA,
      // The notes may be missing. What is listed here may not.
      wants: [],
    };
  },

  evaluate(evidence, text) {
    const settings = parse(text);
    if (settings === null) {
      return unknown(
        "settings: `words` must be a list of texts that are not empty, `check` a text, and nothing else",
      );
    }
    const notes = read(evidence);
    if (notes === null) {
      return unknown("notes: the host gives no more bytes of them");
    }
    const reasons = wordsLeft(notes, settings.words);
    if (settings.check !== null) {
      reasons.push(...notPassed(evidence, settings.check));
    }
    return { outcome: reasons.length === 0 ? "pass" : "fail", reasons };
  },
};

/** The settings; `null` for everything that does not fit the schema. */
function parse(text) {
  let fields;
  try {
    fields = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    return null;
  }
  const settings = { words: WORDS, check: null };
  for (const [name, value] of Object.entries(fields)) {
    if (name === "words" && Array.isArray(value) && value.every((word) => isText(word) && word !== "")) {
      settings.words = value;
    } else if (name === "check" && isText(value)) {
      settings.check = value;
    } else {
      return null;
    }
  }
  return settings;
}

/** Whether it is a text that can be handed to the host, which takes no half characters. */
function isText(value) {
  return typeof value === "string" && value.isWellFormed();
}

/**
 * All of the notes, empty where there are none, `null` where the host refuses. One character stands for each byte:
 * there is no `TextDecoder` here, and notes need not be UTF-8.
 */
function read(evidence) {
  let notes = "";
  if (!evidence.artifacts.some((artifact) => artifact.name === ARTIFACT)) {
    return notes;
  }
  for (;;) {
    let more;
    try {
      more = artifacts.read(ARTIFACT, notes.length, CHUNK);
    } catch {
      return null;
    }
    if (more.length === 0) {
      return notes;
    }
    notes += String.fromCharCode.apply(null, more);
  }
}

/** A reason for each line that has one of the words. */
function wordsLeft(notes, words) {
  // To look for a word in all of the notes is cheaper than to look for it in each line.
  const wanted = words.map((word) => ({ word, bytes: bytesOf(word) })).filter(({ bytes }) => notes.includes(bytes));
  const reasons = [];
  if (wanted.length === 0) {
    return reasons;
  }
  for (const [index, line] of notes.split("\n").entries()) {
    const found = wanted.find(({ bytes }) => line.includes(bytes));
    if (found) {
      reasons.push(`${ARTIFACT}:${index + 1}: ${found.word}`);
    }
    if (reasons.length === MOST_LINES) {
      break;
    }
  }
  return reasons;
}

/** The UTF-8 of a text, with one character for each byte. */
function bytesOf(text) {
  return encodeURIComponent(text).replace(/%(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}

/** Why the check does not count as passed: one reason or none. */
function notPassed(evidence, id) {
  const finding = evidence.findings.find((it) => it.id === id);
  if (!finding) {
    return [`${id}: there is no such check`];
  }
  if (finding.outcome === "pass") {
    return [];
  }
  const why = finding.reason === "" ? "" : `: ${finding.reason}`;
  return [`${id}: ${finding.outcome}${why}`];
}

function unknown(reason) {
  return { outcome: "unknown", reasons: [reason] };
}
