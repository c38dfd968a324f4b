import { api } from "../../../api/client.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/segments.ts";

type DeleteSegmentProps = { segmentKey: string; onDeleted: () => void; onClose: () => void };

/** Asks; where workflows or schedules refer to the segment, the server refuses and names them. */
export function DeleteSegment({ segmentKey, onDeleted, onClose }: DeleteSegmentProps) {
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        await api.DELETE("/v1/segments/{segmentKey}", { params: { path: { segmentKey } } });
        notify(texts.removed);
        onDeleted();
      }}
    >
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}
