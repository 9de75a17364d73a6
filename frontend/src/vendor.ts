// Everything that the tab uses from other projects; it is built, minified, into vendor.js.
export { Component, createContext, h, render, toChildArray } from "preact";
export { useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export { default } from "uplot";
