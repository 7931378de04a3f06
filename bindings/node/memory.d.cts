// The memory component inside the package: see embedded.cjs.

declare const embedded: { load: (imports: object) => { memory: any } };
export = embedded;
