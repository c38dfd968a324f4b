import { ApiProblem } from "../api/problem.ts";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

/** What went wrong, in the words of the server, with a way to go on. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const sentence = error instanceof Error ? error.message : String(error);
  const request = error instanceof ApiProblem ? error.requestId : null;
  return (
    <div class="problem" role="alert">
      <p>{sentence}</p>
      {request && (
        <p class="small quiet">
          {texts.requestId} <code>{request}</code>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>{texts.retry}</Button>}
    </div>
  );
}
