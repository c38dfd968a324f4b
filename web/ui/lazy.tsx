/** Parts of pages that are loaded when they are first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "./states.tsx";

/** A component that is loaded when it is shown; where it cannot be, the other one takes its place. */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  Fallback: ComponentType<Props>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function LazyComponent(props: Props) {
    const [Shown, setShown] = useState<ComponentType<Props> | null>(() => loaded);
    useEffect(() => {
      load().then(
        (module) => {
          loaded = module.default;
          setShown(() => module.default);
        },
        () => setShown(() => Fallback),
      );
    }, []);
    return Shown === null ? <Loading /> : <Shown {...props} />;
  };
}
