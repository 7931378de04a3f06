// What jco makes of the gate component, as far as the face needs it.

/** The gate component, instantiated. */
export interface Component {
  json: {
    call(name: string, input: string): string;
  };
  gate: {
    Session: {
      open(contract: string, snapshot: string | undefined): ComponentSession;
    };
  };
}

/** A session of the component. */
export interface ComponentSession {
  evaluateFinal(iteration: unknown): unknown;
  evaluateFinalJson(iteration: string): string;
  brief(): unknown;
  snapshot(): string | undefined;
}

/** Which gate this is. */
export interface Identity {
  /** Of the gate and of this package. */
  version: string;
  /** BLAKE3 of the component, in hex: the same in every host that embeds the same gate. */
  digest: string;
  /** The interface, for example `ralph:gate@0.1.0`. */
  wit: string;
}
