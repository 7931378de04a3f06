// Light or dark: what the system prefers, until the person chooses.

import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const KEY = "ralph-gate-theme";

function chosen(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}

/** The theme, and how to choose another one. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [choice, setChoice] = useState(chosen);
  const [preferred, setPreferred] = useState<Theme>(dark.matches ? "dark" : "light");
  useEffect(() => {
    const listener = () => setPreferred(dark.matches ? "dark" : "light");
    dark.addEventListener("change", listener);
    return () => dark.removeEventListener("change", listener);
  }, []);
  const theme = choice ?? preferred;
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  const choose = (theme: Theme) => {
    setChoice(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A browser that keeps nothing still shows what was chosen.
    }
  };
  return [theme, choose];
}
