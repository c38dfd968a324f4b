// One file for what pages share: a first build tells which modules that are, the second one puts them together.
import { readFile } from "node:fs/promises";
import path from "node:path";

const app = "dashboard/app.tsx";
const pages = /^dashboard\/pages\/[^/]+\/page\.tsx$/;
const minPages = 5;

/** The modules that several pages import, without those of the application, and all that is loaded later. */
export function findShared({ inputs }) {
  const inApplication = reach(inputs, [app]);
  const counts = new Map();
  for (const page of Object.keys(inputs).filter((name) => pages.test(name))) {
    for (const name of reach(inputs, [page])) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const modules = [...counts].filter(([name, count]) => count >= minPages && !inApplication.has(name));
  const later = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter((one) => one.kind === "dynamic-import").map((one) => one.path),
  );
  return { modules: modules.map(([name]) => name).filter(isOwn), later: new Set(later.filter(isOwn)) };
}

/** What is loaded later imports the application and what pages share, so that either stays in one file. */
export const withShared = (here, { modules, later }) => ({
  name: "with-shared",
  setup(bundle) {
    const wanted = new Set([...later].map((name) => path.join(here, name)));
    const lines = [app, ...modules].map((name) => `import ${JSON.stringify(path.join(here, name))};`);
    bundle.onResolve({ filter: /^shared-by-pages$/ }, () => ({ path: "all", namespace: "shared-by-pages" }));
    bundle.onLoad({ filter: /.*/, namespace: "shared-by-pages" }, () => ({
      contents: lines.join("\n"),
      resolveDir: here,
    }));
    bundle.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) =>
      wanted.has(file)
        ? {
            contents: `${await readFile(file, "utf8")}\nimport "shared-by-pages";`,
            loader: path.extname(file).slice(1),
          }
        : undefined,
    );
  },
});

function isOwn(name) {
  return /\.tsx?$/.test(name) && !name.includes("node_modules") && !name.includes(":");
}

/** Modules with everything that they import at once. */
function reach(inputs, names) {
  const found = new Set();
  const waiting = [...names];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (!found.has(name) && inputs[name]) {
      found.add(name);
      waiting.push(...inputs[name].imports.filter((one) => one.kind === "import-statement").map((one) => one.path));
    }
  }
  return found;
}
