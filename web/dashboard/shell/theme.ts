/** Light or dark, by the system or by choice. */
import { useEffect, useState } from "preact/hooks";

const STORED = "clarion-theme";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function readTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((one) => one === stored) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(STORED);
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(STORED, theme);
  }
}

const CHANGED = "clarion-theme-changed";

/** The theme, and how to choose another one; all who show it follow. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    const read = () => setTheme(readTheme());
    addEventListener(CHANGED, read);
    return () => removeEventListener(CHANGED, read);
  }, []);
  return [theme, chooseTheme];
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  dispatchEvent(new Event(CHANGED));
}
