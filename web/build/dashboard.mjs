// Builds the dashboard; fails if what it loads first is too large.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { collectLicenses } from "./licenses.mjs";

const dashboardLimit = 60 * 1024;
const assets = "dashboard/assets";

/** Style sheets of what is loaded later are texts in its files, for `CSSStyleSheet.replaceSync`. */
const laterStyles = (browsers) => ({
  name: "later-styles",
  setup(bundle) {
    bundle.onResolve({ filter: /\.css$/ }, ({ kind, path: name, resolveDir }) =>
      kind === "import-statement" ? { path: path.join(resolveDir, name), namespace: "later-styles" } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: "later-styles" }, async ({ path: file }) => {
      const { code } = await transform(await readFile(file, "utf8"), { loader: "css", minify: true, target: browsers });
      return { contents: code.trim(), loader: "text" };
    });
  },
});

/** Pages import the application, which is loaded before them: what it shares with them stays in one file. */
const withApplication = {
  name: "with-application",
  setup(bundle) {
    bundle.onLoad({ filter: /\/dashboard\/pages\/[^/]+\/page\.tsx$/ }, async ({ path: file }) => ({
      contents: `${await readFile(file, "utf8")}import "../../app.tsx";`,
      loader: "tsx",
    }));
  },
};

/** The dashboard: hashed files that never change, and a page that names the first of them. */
export async function buildDashboard(here, browsers) {
  const result = await build({
    entryPoints: {
      main: path.join(here, "dashboard/main.tsx"),
      styles: path.join(here, "dashboard/styles.css"),
      frame: path.join(here, "dashboard/frame.ts"),
    },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: "/",
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    write: false,
    metafile: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    target: browsers,
    charset: "utf8",
    legalComments: "none",
    plugins: [withApplication, laterStyles(browsers)],
  });
  const made = Object.fromEntries(
    result.outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]),
  );
  const first = Object.keys(made).filter((name) => /^(main|styles)-/.test(name));
  const outputs = Object.entries(result.metafile.outputs);
  const main = outputs.find(([name]) => /(^|\/)main-[^/]*\.js$/.test(name));
  const shared = main[1].imports.filter((one) => one.kind === "import-statement").map((one) => path.basename(one.path));
  checkFirstLoad([...first, ...shared].map((name) => made[name]));
  const nameOf = (start, end) => Object.keys(made).find((name) => name.startsWith(`${start}-`) && name.endsWith(end));
  const pages = {
    "dashboard/index.html": { script: nameOf("main", ".js"), styles: nameOf("styles", ".css") },
    "dashboard/frame.html": { frame: nameOf("frame", ".js") },
  };
  const named = Object.entries(made).map(([name, content]) => [`${assets}/${name}`, content]);
  const filled = Object.entries(pages).map(async ([name, names]) => [
    name,
    await fillPage(path.join(here, name), names),
  ]);
  const licenses = await collectLicenses(here, Object.keys(result.metafile.inputs));
  return Object.fromEntries([...named, ...(await Promise.all(filled)), ["dashboard/licenses.txt", licenses]]);
}

/** A page with the names of the files that it loads. */
async function fillPage(file, names) {
  const text = await readFile(file, "utf8");
  return Buffer.from(text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => names[name]));
}

function checkFirstLoad(contents) {
  const total = contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0);
  console.log(`first load of the dashboard  ${total} bytes compressed`);
  if (total > dashboardLimit) {
    console.error(`The first load of the dashboard has ${total} bytes when compressed; the limit is ${dashboardLimit}`);
    process.exit(1);
  }
}
