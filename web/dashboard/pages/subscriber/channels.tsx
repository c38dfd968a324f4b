import { useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Empty } from "../../../ui/states.tsx";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { useCan } from "../../session.ts";
import { texts as runs } from "../../texts/runs.ts";
import { channelTexts as texts } from "../../texts/subscriber.ts";
import { AddAccount } from "./add-account.tsx";
import { Connections } from "./connections.tsx";
import { type ChannelEntry, otherCredentials, tokensOf, withoutToken } from "./credentials.ts";
import type { PartProps } from "./part.ts";

type Removal = { entry: ChannelEntry; token?: string };

/** Where a person can be reached: addresses, and what they have at providers of chat and push. */
export function ChannelsPart({ subscriber, reload }: PartProps) {
  const providers = useProviders();
  const canWrite = useCan("subscribers:write");
  const [isAdding, setAdding] = useState(false);
  const [removal, setRemoval] = useState<Removal | null>(null);
  return (
    <>
      <section class="panel stack" aria-labelledby="channels-addresses">
        <h2 id="channels-addresses">{texts.addresses}</h2>
        <KeyValues
          values={[
            [
              runs.channels.in_app,
              <span key="in_app" class="quiet">
                {texts.inApp}
              </span>,
            ],
            [runs.channels.email, <Address key="email" address={subscriber.email} none={texts.noEmail} />],
            [runs.channels.sms, <Address key="sms" address={subscriber.phone} none={texts.noPhone} />],
          ]}
        />
      </section>
      <section class="stack" aria-labelledby="channels-accounts">
        <div class="row spread">
          <h2 id="channels-accounts">{texts.accounts}</h2>
          {canWrite && <Button onClick={() => setAdding(true)}>{texts.add}</Button>}
        </div>
        <p class="quiet">{texts.accountsHint}</p>
        {subscriber.channels.length === 0 ? (
          <Empty title={texts.none}>
            <p class="quiet">{texts.noneHint}</p>
          </Empty>
        ) : (
          <ul class="people-list">
            {subscriber.channels.map((entry) => (
              <li key={entry._integrationId} class="panel stack">
                <Account
                  entry={entry}
                  provider={nameOfProvider(providers.data, entry.providerId)}
                  {...(canWrite && { onRemove: setRemoval })}
                />
              </li>
            ))}
          </ul>
        )}
      </section>
      <Connections subscriberId={subscriber.subscriberId} />
      {isAdding && <AddAccount subscriber={subscriber} reload={reload} onClose={() => setAdding(false)} />}
      {removal && (
        <Remove
          {...removal}
          provider={nameOfProvider(providers.data, removal.entry.providerId)}
          subscriber={subscriber}
          reload={reload}
          onClose={() => setRemoval(null)}
        />
      )}
    </>
  );
}

function Address({ address, none }: { address: string | null; none: string }) {
  return address === null ? <span class="quiet">{none}</span> : <bdi>{address}</bdi>;
}

type AccountProps = { entry: ChannelEntry; provider: string; onRemove?: (removal: Removal) => void };

function Account({ entry, provider, onRemove }: AccountProps) {
  const tokens = tokensOf(entry);
  const others = otherCredentials(entry);
  return (
    <>
      <div class="row spread">
        <h3>
          {provider} <code class="quiet">{entry.integrationIdentifier}</code>
        </h3>
        {onRemove && (
          <Button kind="quiet" onClick={() => onRemove({ entry })}>
            {texts.removeAll}
          </Button>
        )}
      </div>
      {others.length > 0 && (
        <KeyValues
          values={others.map(([name, value]) => [texts.credentials[name] ?? name, <code key={name}>{value}</code>])}
        />
      )}
      {tokens.length > 0 && (
        <ul class="people-list" aria-label={texts.devices}>
          {tokens.map((token) => (
            <li key={token} class="subscriber-device">
              <code>{token}</code>
              {onRemove && (
                <Button
                  kind="quiet"
                  aria-label={`${texts.removeDevice} ${token}`}
                  onClick={() => onRemove({ entry, token })}
                >
                  {texts.remove}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type RemoveProps = Removal & PartProps & { provider: string; onClose: () => void };

function Remove({ entry, token, provider, subscriber, reload, onClose }: RemoveProps) {
  const path = { subscriberId: subscriber.subscriberId };
  async function remove() {
    if (token === undefined) {
      await api.DELETE("/v1/subscribers/{subscriberId}/credentials/{providerId}", {
        params: { path: { ...path, providerId: entry.providerId } },
      });
    } else {
      await api.PUT("/v1/subscribers/{subscriberId}/credentials", {
        params: { path },
        body: {
          providerId: entry.providerId as never,
          integrationIdentifier: entry.integrationIdentifier,
          credentials: withoutToken(entry, token),
        },
      });
    }
    notify(texts.removed);
    reload();
  }
  return (
    <Confirm
      title={token === undefined ? texts.removeAllTitle(provider) : texts.removeDevice}
      action={texts.remove}
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{token === undefined ? texts.removeAllText(provider) : texts.removeDeviceText}</p>
      {token !== undefined && <code class="subscriber-token">{token}</code>}
    </Confirm>
  );
}
