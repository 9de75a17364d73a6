// What JSX becomes in the built bundle (`h(…)` is shorter than the automatic form); the build adds it to every module.
export { Fragment, h } from "preact";
