// Everything that the tab uses from other projects; it is built into vendor.js.
export { Fragment, h, render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
export { computed, effect, signal, useSignal } from "@preact/signals";
export { default } from "uplot";
