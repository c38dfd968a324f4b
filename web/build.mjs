// Builds what browsers load into src/clarion/web/files, each with a compressed copy; fails if a first load is too large.
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { buildDashboard } from "./build/dashboard.mjs";

const here = import.meta.dirname;
const target = path.resolve(here, "../src/clarion/web/files");
const browsers = ["chrome125", "firefox128", "safari17.5"];
const inboxLimit = 12 * 1024;

/** Style sheets are imported as minified texts, for `CSSStyleSheet.replaceSync`. */
const styleTexts = {
  name: "style-texts",
  setup(bundle) {
    bundle.onLoad({ filter: /\.css$/ }, async ({ path: file }) => {
      const { code } = await transform(await readFile(file, "utf8"), { loader: "css", minify: true, target: browsers });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

async function bundle(entry) {
  const result = await build({
    entryPoints: [path.join(here, entry)],
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
    target: browsers,
    charset: "utf8",
    legalComments: "none",
    plugins: [styleTexts],
  });
  return Buffer.from(result.outputFiles[0].contents);
}

async function minifyStyles(file) {
  const text = await readFile(path.join(here, file), "utf8");
  return Buffer.from((await transform(text, { loader: "css", minify: true, target: browsers })).code);
}

const isVerbose = process.argv.includes("--sizes");
const files = {
  "inbox.js": await bundle("inbox/main.ts"),
  "inbox-more.js": await bundle("inbox/more.ts"),
  "inbox-languages.js": await bundle("inbox/languages.ts"),
  "demo.js": await bundle("demo/demo.ts"),
  "demo.css": await minifyStyles("demo/demo.css"),
  "demo.html": await readFile(path.join(here, "demo/demo.html")),
  ...(await buildDashboard(here, browsers)),
};

const made = `${target}.new`;
await rm(made, { recursive: true, force: true });
await mkdir(path.join(made, "dashboard/assets"), { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const compressed = gzipSync(content, { level: 9 });
  await writeFile(path.join(made, name), content);
  await writeFile(path.join(made, `${name}.gz`), compressed);
  if (isVerbose) {
    console.log(`${name}  ${content.length} bytes, ${compressed.length} compressed`);
  }
  if (name === "inbox.js" && compressed.length > inboxLimit) {
    console.error(`inbox.js has ${compressed.length} bytes when compressed; the limit is ${inboxLimit}`);
    process.exit(1);
  }
}
// Moved as a whole, so that a build that failed half-way is not taken for a finished one.
await rm(target, { recursive: true, force: true });
await rename(made, target);
