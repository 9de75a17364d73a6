import type { Pairs } from "../host/address";

/** Which trace is open and which two are compared. Part of the address, as `trace`, `before` and `after`. Pure. */
export interface TraceChoice {
  open: string | null;
  before: string | null;
  after: string | null;
}

export const NO_CHOICE: TraceChoice = { open: null, before: null, after: null };

export function choicePairs({ open, before, after }: TraceChoice): Pairs {
  return {
    ...(open === null ? {} : { trace: open }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  };
}

/** The choice that the pairs describe. The ids are the server's: whatever cannot be one is left out. */
export function choiceFromPairs(pairs: Pairs): TraceChoice {
  const id = (text = "") => (/^[\w-]{1,64}$/.test(text) ? text : null);
  return { open: id(pairs.trace), before: id(pairs.before), after: id(pairs.after) };
}
