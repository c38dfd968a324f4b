import type { ComponentType } from "preact";
import lazy from "preact-iso/lazy";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/states.tsx";
import { texts } from "../texts/shell.ts";

type Module = { default: ComponentType };

/** A page that is loaded when it is first shown. If its file is gone, because a new release took its place, it says so. */
export function lazyPage(load: () => Promise<Module>): ComponentType & { preload: () => Promise<unknown> } {
  return lazy(() => load().catch(() => ({ default: NotLoaded })));
}

/** Takes the place of what cannot be loaded. */
export function NotLoaded() {
  return (
    <Empty title={texts.notLoaded}>
      <p class="quiet">{texts.notLoadedHint}</p>
      <Button kind="primary" onClick={() => location.reload()}>
        {texts.reload}
      </Button>
    </Empty>
  );
}
