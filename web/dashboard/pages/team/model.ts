/** Rules about roles. */
import type { components } from "../../../api/schema.d.ts";
import { texts } from "../../texts/team.ts";

export type Role = components["schemas"]["Role"];
export type EnvironmentRoles = Record<string, Role | null>;

/** From the least to the most. */
export const ROLES: readonly Role[] = ["viewer", "author", "admin", "owner"];

type Named = { _id: string; name: string };

/** Where a member has another role than in general, in words. */
export function otherRoles(
  roles: EnvironmentRoles,
  environments: readonly Named[],
): { environment: string; role: string }[] {
  return environments
    .filter((one) => one._id in roles)
    .map((one) => ({ environment: one.name, role: roleText(roles[one._id] ?? null) }));
}

export function roleText(role: Role | null): string {
  return role === null ? texts.noRole : texts.roles[role];
}

/** The roles that a member can give: admins up to their own. */
export function rolesToGive(own: Role): readonly Role[] {
  return own === "owner" ? ROLES : ROLES.slice(0, ROLES.indexOf(own) + 1);
}

export const GENERAL = "general";
export const NONE = "none";

/** Roles in single environments after a choice; the one in general is left out. */
export function withRole(roles: EnvironmentRoles, environmentId: string, choice: string): EnvironmentRoles {
  const { [environmentId]: _, ...others } = roles;
  if (choice === GENERAL) {
    return others;
  }
  return { ...others, [environmentId]: choice === NONE ? null : (choice as Role) };
}

export function choiceOf(roles: EnvironmentRoles, environmentId: string): string {
  return environmentId in roles ? (roles[environmentId] ?? NONE) : GENERAL;
}
