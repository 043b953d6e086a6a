// Dark or light: as the machine says, until the person says otherwise.

import { $ } from "./dom.js";

export function themes(view) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("mpnp-studio-theme");
  const apply = () => {
    const theme = chosen() ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    if (!view) return;
    view.theme = theme;
    view.recolour();
    document.dispatchEvent(new Event("theme"));
  };
  dark.addEventListener("change", apply);
  $("theme").addEventListener("click", () => {
    localStorage.setItem("mpnp-studio-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}
