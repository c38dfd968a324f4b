import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { type Channel, type Integration, moveTo, placeAt } from "./model.ts";

type OrderedListProps = {
  channel: Channel;
  integrations: readonly Integration[];
  row: (integration: Integration) => JSX.Element;
  onOrdered: () => void;
};

/** Integrations in the order in which they are tried; it is changed by dragging or by the arrow keys of a handle. */
export function OrderedList({ channel, integrations, row, onOrdered }: OrderedListProps) {
  const [order, setOrder] = useState(integrations);
  const [dragged, setDragged] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const focused = useRef<string | null>(null);
  const latest = useRef(order);
  const count = order.length;
  latest.current = order;
  const isChanging = useRef(false);
  useEffect(() => {
    // An order that was loaded before the last move would take it back.
    if (!isChanging.current) {
      setOrder(integrations);
    }
  }, [integrations]);

  // An element that changes its place loses the focus, also when the order of the server comes later.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) {
      const index = order.findIndex((one) => one._id === focused.current);
      list.current?.children[index]?.querySelector("button")?.focus();
    }
  }, [order]);

  const saving = useAction(async () => {
    let saved: readonly Integration[];
    do {
      saved = latest.current;
      const body = { channel, integrationIds: saved.map((one) => one._id) };
      await api.PUT("/v1/integrations/order", { body }).catch((error) => {
        isChanging.current = false;
        setOrder(integrations);
        throw error;
      });
      // Moves during the request are saved by another one.
    } while (latest.current !== saved);
    isChanging.current = false;
    notify(texts.ordered);
    onOrdered();
  });

  function move(id: string, to: number) {
    const from = latest.current.findIndex((one) => one._id === id);
    if (from === to || to < 0 || to >= count) {
      return;
    }
    isChanging.current = true;
    latest.current = moveTo(latest.current, from, to);
    setOrder(latest.current);
    setSaid(texts.moved(latest.current[to]?.name ?? "", to + 1, count));
  }

  function handleKey(event: KeyboardEvent, id: string) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      focused.current = id;
      // Where it is now: a key may come before the list is drawn again.
      move(id, latest.current.findIndex((one) => one._id === id) + step);
      void saving.run();
    }
  }

  useEffect(() => {
    if (dragged === null) {
      return;
    }
    function drag(event: PointerEvent) {
      const rows = [...(list.current?.children ?? [])].filter((_, place) => latest.current[place]?._id !== dragged);
      const boxes = rows.map((one) => one.getBoundingClientRect());
      move(
        dragged as string,
        placeAt(
          event.clientY,
          boxes.map((box) => box.top + box.height / 2),
        ),
      );
    }
    function drop() {
      setDragged(null);
      if (latest.current.some((one, index) => one._id !== integrations[index]?._id)) {
        void saving.run();
      } else {
        isChanging.current = false;
      }
    }
    // On the window: what is dragged changes its place, and would lose a captured pointer.
    addEventListener("pointermove", drag);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
    return () => {
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", drop);
    };
  }, [dragged]);

  return (
    <>
      <ol class="integrations-list" ref={list} aria-label={texts.inOrder(runTexts.channels[channel])}>
        {order.map((one, index) => (
          <li key={one._id} class={`integrations-item ${dragged === one._id ? "integrations-dragged" : ""}`}>
            <button
              type="button"
              class="integrations-handle"
              aria-label={texts.move(one.name, index + 1, count)}
              title={texts.moveHint}
              onKeyDown={(event) => handleKey(event, one._id)}
              onPointerDown={() => setDragged(one._id)}
            >
              <span aria-hidden="true">⠿</span>
              <span aria-hidden="true">{index + 1}</span>
            </button>
            {row(one)}
          </li>
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {said}
      </p>
      {saving.error !== null && <Problem error={saving.error} />}
    </>
  );
}
