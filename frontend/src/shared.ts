// What comparison.js and traces.js use of index.js. It is there anyway when they come: the build lets them import it
// from there instead of holding a second copy.
export { Chart } from "./charts/chart";
export { align } from "./charts/bins";
export { RUN_COLORS } from "./charts/colors";
export { layoutLabels, PLOT_LEFT, PLOT_RIGHT } from "./charts/markers";
export { digits, interval, pWords, signed, stageName } from "./format/changes";
export { matches } from "./format/names";
export { count, integer, MISSING, percent, significant } from "./format/numbers";
export { wallTime } from "./format/position";
export { list, sentence, visible } from "./format/text";
export { bytes, rate, time } from "./format/units";
export { sideKey } from "./state/analyses";
export { memberOf } from "./state/catalog";
export { changeRows } from "./state/change-list";
export { chooseBaseline, chooseSides, MAX_SIDE, toggleOverrule, toggleSide } from "./state/view";
export { Attribution } from "./views/attribution";
export { Panel } from "./views/panel";
export { Check, HeadRow, Menu, Name, Segmented, styled, Swatch } from "./views/parts";
export { perCent, SmallestChange } from "./views/smallest-change";
