/** Goes to an article of the traces, for the eye and for the keyboard. */
export function goTo(id: "trace" | "trace-comparison"): void {
  requestAnimationFrame(() => {
    const target = document.getElementById(id);
    target?.scrollIntoView();
    target?.querySelector<HTMLElement>("h3")?.focus({ preventScroll: true });
  });
}
