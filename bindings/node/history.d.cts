// What reads logs, inside the package: see page.cjs.

type Gate = (name: string, input: string) => string;

declare const embedded: {
  readLog: (text: string) => string;
  replay: (text: string, gate: Gate, contract: string | undefined) => string;
  whatIf: (text: string, contract: string, gate: Gate) => string;
};
export = embedded;
