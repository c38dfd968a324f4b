import { Button } from "../../../ui/button.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import type { Draft, Layer } from "./model.ts";

type Preferences = Draft["preferences"];
type PreferencesFormProps = {
  preferences: Preferences;
  onPreferences: (preferences: Preferences) => void;
  disabled: boolean;
};

const CHANNELS = ["in_app", "email", "sms", "chat", "push"] as const;

/** What people get unless they choose otherwise; the layer of the team, if there is one, else that of the workflow. */
export function PreferencesForm({ preferences, onPreferences, disabled }: PreferencesFormProps) {
  const layer = preferences.user ?? preferences.default;
  const isCritical = preferences.default.all.readOnly || preferences.user?.all.readOnly === true;

  function set(changed: Layer) {
    onPreferences(preferences.user ? { ...preferences, user: changed } : { ...preferences, default: changed });
  }
  function setCritical(readOnly: boolean) {
    const mark = (one: Layer): Layer => ({ ...one, all: { ...one.all, readOnly } });
    // One layer is enough to make it critical, so that both are cleared.
    const other = readOnly ? preferences.default : mark(preferences.default);
    onPreferences(
      preferences.user
        ? { default: other, user: mark(preferences.user) }
        : { ...preferences, default: mark(preferences.default) },
    );
  }

  return (
    <>
      <p class="field-hint">{texts.preferencesHint}</p>
      {preferences.user && (
        <div class="document-note row">
          <span>{texts.overridden}</span>
          {!disabled && (
            <Button kind="quiet" onClick={() => onPreferences({ ...preferences, user: null })}>
              {texts.toDefaults}
            </Button>
          )}
        </div>
      )}
      <CheckField
        label={texts.critical}
        hint={texts.criticalHint}
        isSwitch
        checked={isCritical}
        onChecked={setCritical}
        disabled={disabled}
      />
      <CheckField
        label={texts.allChannels}
        isSwitch
        checked={layer.all.enabled}
        onChecked={(enabled) => set({ ...layer, all: { ...layer.all, enabled } })}
        disabled={disabled}
      />
      <div class="editor-channels">
        {CHANNELS.map((channel) => (
          <CheckField
            key={channel}
            label={texts.channelOn(runTexts.channels[channel])}
            isSwitch
            checked={layer.channels[channel]?.enabled ?? layer.all.enabled}
            onChecked={(enabled) => set({ ...layer, channels: { ...layer.channels, [channel]: { enabled } } })}
            disabled={disabled}
          />
        ))}
      </div>
    </>
  );
}
