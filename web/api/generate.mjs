// Generates api/schema.d.ts, the types of the API, from docs/reference/openapi.json; fails if clients could not use them.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import openapiTS, { astToString } from "openapi-typescript";

const source = path.resolve(import.meta.dirname, "../../docs/reference/openapi.json");
const target = path.join(import.meta.dirname, "schema.d.ts");
const limit = 400 * 1000;

/** Headers are no part of what typed clients return. */
function dropHeaders(description) {
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  for (const { responses } of [...operations, description.components]) {
    for (const response of Object.values(responses)) {
      delete response.headers;
    }
  }
  delete description.components.headers;
}

/** The reference page has the descriptions; in the types they would be half of the text. Operations keep their summaries. */
function dropDescriptions(part) {
  for (const [name, value] of Object.entries(part)) {
    if (name === "description" && typeof value === "string") {
      delete part[name];
    } else if (typeof value === "object" && value !== null) {
      dropDescriptions(value);
    }
  }
}

/** Leaves out what says nothing, which is a third: members that cannot be there, any headers. */
function tidy(text) {
  return text
    .replace(/^( {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4))
    .replace(/^export type (webhooks|\$defs) = Record<string, never>;\n/gm, "")
    .replace(/^\t+["\w-]+\?: never;\n/gm, "")
    .replace(/^\t+headers: \{\n\t+\[name: string\]: unknown;\n\t+\};\n/gm, "")
    .replace(/\{\n\t+\}/g, "{}")
    .replace(/^\t\tparameters: \{\};\n/gm, "");
}

const description = JSON.parse(await readFile(source, "utf8"));
dropHeaders(description);
dropDescriptions(description);
const text = tidy(astToString(await openapiTS(description)));
await writeFile(target, `// Generated from docs/reference/openapi.json by api/generate.mjs.\n${text}`);

const lines = text.split("\n");
const problems = lines
  .map((line, index) => `${path.basename(target)}:${index + 2}: ${line.trim()}`)
  .filter((line) => line.includes("Record<string, never>"))
  .map((line) => `${line}\n  is an object that can have no members: add additionalProperties or members to its schema`);
if (text.length > limit) {
  problems.push(`${path.basename(target)} has ${text.length} bytes, more than ${limit}`);
}
if (problems.length > 0) {
  throw new Error(`The types of the API cannot be used:\n${problems.join("\n")}`);
}
