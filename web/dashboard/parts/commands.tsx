import { useState } from "preact/hooks";
import { Copyable } from "../../ui/copyable.tsx";
import { texts } from "../texts/commands.ts";

export type CommandLanguage = keyof typeof texts.languages;

const STORED = "clarion-language";

/** The same request in several languages; the one that was chosen last is shown first. */
export function Commands({ commands }: { commands: Partial<Record<CommandLanguage, string>> }) {
  const [chosen, setChosen] = useState<string>(() => localStorage.getItem(STORED) ?? "curl");
  const languages = Object.keys(commands) as CommandLanguage[];
  const shown = languages.find((one) => one === chosen) ?? languages[0];
  function choose(language: CommandLanguage) {
    localStorage.setItem(STORED, language);
    setChosen(language);
  }
  return (
    <div class="commands">
      {/* biome-ignore lint/a11y/useSemanticElements: buttons, not fields */}
      <div class="commands-languages" role="group" aria-label={texts.label}>
        {languages.map((one) => (
          <button key={one} type="button" aria-pressed={one === shown} onClick={() => choose(one)}>
            {texts.languages[one]}
          </button>
        ))}
      </div>
      {shown && <Copyable key={shown} text={commands[shown] ?? ""} />}
    </div>
  );
}
