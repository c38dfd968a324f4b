/** The person for whom something is previewed. */
import { api, dataOf } from "../../api/client.ts";
import { useLoaded } from "../../api/loaded.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { JsonObject } from "../values.ts";

const PERSON_FIELDS = [
  "subscriberId",
  "firstName",
  "lastName",
  "email",
  "phone",
  "avatar",
  "locale",
  "timezone",
  "isOnline",
  "lastOnlineAt",
] as const;

/** A person as templates see them; nobody if the id is empty. */
export function usePerson(subscriberId: string): { variables: JsonObject; isKnown: boolean } {
  const person = useLoaded(`person/${subscriberId}`, async (signal) => {
    const params = { path: { subscriberId } };
    return subscriberId === "" ? null : dataOf(await api.GET("/v2/subscribers/{subscriberId}", { params, signal }));
  });
  const found = person.data;
  if (!found || found.subscriberId !== subscriberId) {
    const isMissing = person.error instanceof ApiProblem && person.error.status === 404;
    return { variables: subscriberId ? { subscriberId } : {}, isKnown: !isMissing };
  }
  const named = Object.fromEntries(PERSON_FIELDS.map((name) => [name, found[name] ?? null]));
  return { variables: { ...named, data: found.data ?? {} }, isKnown: true };
}
