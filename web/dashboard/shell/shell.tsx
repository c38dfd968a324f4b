import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAddress, useSession } from "../session.ts";
import { texts } from "../texts/shell.ts";
import { Drawer } from "./drawer.tsx";
import { EnvironmentSwitch } from "./environment-switch.tsx";
import { Icon } from "./icons.tsx";
import { KeyHelp } from "./key-help.tsx";
import { Navigation } from "./navigation.tsx";
import { usePalette } from "./palette/opening.tsx";
import { useShellKeys } from "./shell-keys.ts";
import { StatusLine } from "./status-line.tsx";
import { UserMenu } from "./user-menu.tsx";

/** The frame around all pages of an environment. */
export function Shell({ children }: { children: ComponentChildren }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const showKeys = () => setHelpOpen(true);
  const palette = usePalette(showKeys);
  useShellKeys({ onPalette: palette.open, onHelp: showKeys });
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <Header onPalette={palette.open} onKeys={showKeys} />
      <div class="shell-navigation">
        <Navigation />
      </div>
      <main id="content" class="shell-content" tabIndex={-1}>
        {children}
      </main>
      <StatusLine />
      {palette.element}
      {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

type HeaderProps = { onPalette: () => void; onKeys: () => void };

function Header({ onPalette, onKeys }: HeaderProps) {
  const { environment } = useSession();
  const address = useAddress();
  const [isMenuOpen, setMenuOpen] = useState(false);
  return (
    <header class={`shell-header ${environment.type === "prod" ? "shell-header-production" : ""}`}>
      <button
        type="button"
        class="shell-icon shell-menu"
        aria-label={texts.menu}
        aria-haspopup="dialog"
        onClick={() => setMenuOpen(true)}
      >
        <Icon name="menu" />
      </button>
      <a class="shell-product" href={address("/")}>
        {texts.product}
      </a>
      <EnvironmentSwitch />
      <button type="button" class="shell-search" aria-haspopup="dialog" onClick={onPalette}>
        <Icon name="search" />
        <span class="shell-search-hint">{texts.searchHint}</span>
        <kbd>{isApple() ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <UserMenu onKeys={onKeys} />
      {isMenuOpen && <Drawer onClose={() => setMenuOpen(false)} />}
    </header>
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
