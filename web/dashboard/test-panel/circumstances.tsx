import { optionsOf, SelectField, TextField } from "../../ui/field.tsx";
import { texts as runTexts } from "../texts/runs.ts";
import { texts } from "../texts/test-panel.ts";
import { CHANNELS, type Wish, type Wishes } from "./model.ts";

type CircumstancesProps = {
  moment: string;
  onMoment: (moment: string) => void;
  wishes: Wishes;
  onWishes: (wishes: Wishes) => void;
};

const CHOICES = optionsOf(texts.preferenceChoices);

/** The moment of a simulation, and what the person is taken to want. */
export function Circumstances({ moment, onMoment, wishes, onWishes }: CircumstancesProps) {
  return (
    <details>
      <summary>{texts.circumstances}</summary>
      <div class="stack test-circumstances">
        <TextField
          label={texts.moment}
          type="datetime-local"
          value={moment}
          onValue={onMoment}
          hint={texts.momentHint}
        />
        <fieldset class="test-wishes">
          <legend>{texts.preferences}</legend>
          <p class="small quiet">{texts.preferencesHint}</p>
          {CHANNELS.map((channel) => (
            <SelectField
              key={channel}
              label={runTexts.channels[channel]}
              value={wishes[channel] ?? "own"}
              options={CHOICES}
              onValue={(wish) => onWishes({ ...wishes, [channel]: wish as Wish })}
            />
          ))}
        </fieldset>
      </div>
    </details>
  );
}
