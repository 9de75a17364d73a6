import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

/** The theme that the page is painted in. Charts redraw when it changes. */
export const theme = signal<Theme>("light");

/** The parent's document where it is of the same origin, else null. */
export function parentDocument(self: Window): Document | null {
  try {
    return self.parent !== self ? self.parent.document : null;
  } catch {
    return null; // Another origin: TensorBoard is embedded in a way that hides it from us.
  }
}

/**
 * Follows TensorBoard's dark mode, a class on the parent's body, and the system's preference where that cannot be
 * read. Paints the page by setting `data-theme` on the root element.
 */
export function followTheme(self: Window): () => void {
  const parent = parentDocument(self);
  const preference = self.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = parent?.body ? parent.body.classList.contains("dark-mode") : preference.matches;
    self.document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.value = dark ? "dark" : "light";
  };
  apply();
  if (parent?.body) {
    const observer = new MutationObserver(apply);
    observer.observe(parent.body, { attributes: true, attributeFilter: ["class"] });
    return () => observer.disconnect();
  }
  preference.addEventListener("change", apply);
  return () => preference.removeEventListener("change", apply);
}
