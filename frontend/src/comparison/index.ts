/** Entry of comparison.js: what only those need who look at two runs or more. */
export { Comparison } from "./panel";
