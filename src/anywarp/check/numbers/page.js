"use strict";
(() => {
  const root = document.documentElement, by = (id) => document.getElementById(id);
  by("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  const only = by("only"), table = by("layers-table");
  if (only) only.addEventListener("change", () => table.classList.toggle("wrong-only", only.checked));
})();
