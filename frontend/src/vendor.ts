// Everything that the tab uses from other projects; it is built, minified, into vendor.js, to which
// the build adds uPlot as the default export.
export { Fragment, h, render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
export { computed, effect, signal, useSignal } from "@preact/signals";
