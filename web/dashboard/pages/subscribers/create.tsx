import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { notify } from "../../../ui/notices.tsx";
import { nameOf, subscriberPath } from "../../parts/person.ts";
import { creation, NO_VALUES } from "../../parts/subscriber-fields.ts";
import { SubscriberForm } from "../../parts/subscriber-form.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/subscribers.ts";

/** A new subscriber, whose page is shown afterwards. An id that exists is refused, so that nobody is overwritten. */
export function CreateSubscriber({ onClose }: { onClose: () => void }) {
  const address = useAddress();
  const { route } = useLocation();
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <SubscriberForm
        values={NO_VALUES}
        isNew
        action={texts.createAction}
        onCancel={onClose}
        onSubmit={async (values, data) => {
          const created = dataOf(
            await api.POST("/v2/subscribers", {
              params: { query: { failIfExists: true } },
              body: creation(values, data),
            }),
          );
          notify(texts.created(nameOf(created)));
          route(address(subscriberPath(created.subscriberId)));
        }}
      />
    </Dialog>
  );
}
