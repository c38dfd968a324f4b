import { SelectField } from "../../../ui/field.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/team.ts";
import { choiceOf, type EnvironmentRoles, GENERAL, NONE, type Role, rolesToGive, withRole } from "./model.ts";

type RoleChoiceProps = {
  role: Role;
  onRole: (role: Role) => void;
  environmentRoles: EnvironmentRoles;
  onEnvironmentRoles: (roles: EnvironmentRoles) => void;
  problem?: string | undefined;
};

/** The role in general, and where it differs. */
export function RoleChoice({ role, onRole, environmentRoles, onEnvironmentRoles, problem }: RoleChoiceProps) {
  const { me } = useSession();
  const options = rolesToGive(me.member.role).map((one) => ({ value: one, label: texts.roles[one] }));
  return (
    <>
      <SelectField
        label={texts.role}
        hint={texts.roleHints[role]}
        value={role}
        options={options}
        onValue={(value) => onRole(value as Role)}
        problem={problem}
      />
      <details open={Object.keys(environmentRoles).length > 0}>
        <summary>{texts.more}</summary>
        <div class="stack">
          {me.environments.map((environment) => (
            <SelectField
              key={environment._id}
              label={texts.roleIn(environment.name)}
              value={choiceOf(environmentRoles, environment._id)}
              options={[{ value: GENERAL, label: texts.asInGeneral }, ...options, { value: NONE, label: texts.noRole }]}
              onValue={(value) => onEnvironmentRoles(withRole(environmentRoles, environment._id, value))}
            />
          ))}
        </div>
      </details>
    </>
  );
}
