import { render } from "preact";
import { App } from "./app.tsx";
import { findPage } from "./pages.ts";
import { applyTheme, readTheme } from "./shell/theme.ts";

applyTheme(readTheme());
// The page of the address is loaded while it is asked who is signed in.
void findPage(location.pathname.replace(/^\/dashboard(\/e\/[^/]+)?/, "") || "/")?.component.preload();
const root = document.getElementById("app");
if (root) {
  render(<App />, root);
}
