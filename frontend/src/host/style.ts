/** Loads one of the style sheets beside the module, e.g. `style.css`. */
export function loadStyle(name: string): Promise<void> {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(name, import.meta.url).href;
    // A page without its style sheet is ugly, but still better than none.
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}
