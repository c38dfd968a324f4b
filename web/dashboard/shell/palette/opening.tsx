import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/shell.ts";
import type { PaletteProps } from "./palette.tsx";

/** The palette, whose code is loaded while nothing else is to do. */
export function usePalette(onKeys: () => void): { open: () => void; element: VNode | null } {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), 500);
    return () => clearTimeout(timer);
  }, []);
  async function open() {
    setOpen(true);
    try {
      const { PaletteDialog } = await load();
      setPalette(() => PaletteDialog);
    } catch {
      setOpen(false);
      notify(texts.notLoaded);
    }
  }
  const close = () => setOpen(false);
  return { open, element: isOpen && Palette ? <Palette onClose={close} onKeys={onKeys} /> : null };
}

function load() {
  return import("./palette.tsx");
}
