// The licences of the packages that are in a bundle, which must go wherever it goes.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** One text with the licences of all packages that the files of a bundle belong to. */
export async function collectLicenses(here, inputs) {
  const names = new Set(inputs.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean));
  const texts = [...names].sort().map((name) => describe(name, path.join(here, "node_modules", name)));
  return Buffer.from((await Promise.all(texts)).join("\n\n"));
}

async function describe(name, folder) {
  const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (!file) {
    throw new Error(`${name} has no file with its licence`);
  }
  return `${name} ${version} (${license})\n\n${(await readFile(path.join(folder, file), "utf8")).trim()}`;
}
