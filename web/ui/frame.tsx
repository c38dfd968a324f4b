import { useEffect, useRef } from "preact/hooks";

export type Scheme = "light" | "dark";

type FrameProps = {
  title: string;
  html: string;
  width?: number;
  /** The theme that its styles are to see; that of the browser if there is none. */
  scheme?: Scheme;
};

/**
 * HTML of a message as it was sent, in a frame of no origin: styles and pictures show, scripts and forms do nothing.
 * The page in the frame has a policy of its own, and gets the text by a message (web/dashboard/frame.ts).
 */
export function Frame({ title, html, width, scheme }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    function send() {
      // The frame has no origin that could be named.
      frame.current?.contentWindow?.postMessage({ html, scheme }, "*");
    }
    function answer(event: MessageEvent) {
      if (event.source !== frame.current?.contentWindow) {
        return;
      }
      if (event.data === "ready") {
        send();
      } else if (typeof event.data?.height === "number" && frame.current) {
        frame.current.style.height = `${Math.min(Math.max(event.data.height, 80), 4000)}px`;
      }
    }
    addEventListener("message", answer);
    send();
    return () => removeEventListener("message", answer);
  }, [html, scheme]);
  return (
    <iframe
      ref={frame}
      class="frame"
      title={title}
      src="/dashboard/frame.html"
      sandbox="allow-scripts"
      {...(width !== undefined && { width })}
    />
  );
}
