/** Entry of traces.js: everything that only those need who have a trace. */
export { Desk } from "./desk";
export { Lane } from "./lane";
export { MarkerLinks } from "./links";
export { Section } from "./section";
