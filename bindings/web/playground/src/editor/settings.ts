// Colours for JSON, YAML and TOML alike: what is a key, a text, a number. Which of the three it is, only the gate has to know.

import { StreamLanguage } from "@codemirror/language";

export const settings = StreamLanguage.define<null>({
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) {
      return stream.match(/^\s*[:=]/, false) ? "propertyName" : "string";
    }
    if (stream.match(/^-?\d[\d_.eE+-]*(?=[\s,}\]]|$)/)) return "number";
    if (stream.match(/^[A-Za-z_$][\w$.-]*(?=\s*[:=])/)) return "propertyName";
    if (stream.match(/^(?:true|false)\b/)) return "bool";
    if (stream.match(/^(?:null|~)\b/)) return "null";
    if (stream.match(/^[{}[\],:=]/)) return "punctuation";
    if (stream.match(/^- /)) return "punctuation";
    if (!stream.match(/^[^\s,{}[\]#:=]+/)) stream.next();
    return "string";
  },
});
