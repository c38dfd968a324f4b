// Builds the dashboard; fails if what it loads first is too large.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { collectLicenses } from "./licenses.mjs";
import { findShared, withShared } from "./shared.mjs";

const dashboardLimit = 60 * 1024;
/** Of a page, beside the first load; editors are loaded when they are shown. */
const pageLimit = 60 * 1024;
const blockEditorLimit = 130 * 1024;
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

/** The dashboard: hashed files that never change, and a page that names the first of them. */
export async function buildDashboard(here, browsers) {
  const options = {
    absWorkingDir: here,
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
    plugins: [laterStyles(browsers)],
  };
  const { metafile } = await build(options);
  const plugins = [withShared(here, findShared(metafile)), ...options.plugins];
  const result = await build({ ...options, plugins });
  const made = Object.fromEntries(
    result.outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]),
  );
  checkSizes(result.metafile.outputs, made);
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

/** Fails if the first load, or what a page loads besides, is too large when compressed. */
function checkSizes(outputs, made) {
  const entries = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint);
  const namesOf = (pattern) => entries.filter(([, one]) => pattern.test(one.entryPoint)).map(([name]) => name);
  const first = reach(outputs, namesOf(/\/(main\.tsx|styles\.css)$/));
  const loadsOf = (pattern, limit) =>
    namesOf(pattern).map((name) => ({
      what: outputs[name].entryPoint,
      files: [...reach(outputs, [name])].filter((file) => !first.has(file)),
      limit,
    }));
  const loads = [
    { what: "first load of the dashboard", files: [...first], limit: dashboardLimit },
    ...loadsOf(/\/page\.tsx$/, pageLimit),
    ...loadsOf(/\/block-editor\.tsx$/, blockEditorLimit),
  ];
  for (const { what, files, limit } of process.argv.includes("--sizes") ? loads : loads.slice(0, 1)) {
    console.log(`${what}  ${sizeOf(files, made)} bytes compressed, ${files.length} files, limit ${limit}`);
  }
  const tooLarge = loads.filter(({ files, limit }) => sizeOf(files, made) > limit);
  if (tooLarge.length > 0) {
    console.error(`Larger than the limit: ${tooLarge.map(({ what }) => what).join(", ")}; see node build.mjs --sizes`);
    process.exit(1);
  }
}

function sizeOf(files, made) {
  return files.reduce((sum, name) => sum + gzipSync(made[name], { level: 9 }).length, 0);
}

/** Files with those that they import at once. */
function reach(outputs, names) {
  const found = new Set();
  const waiting = [...names];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (!found.has(path.basename(name))) {
      found.add(path.basename(name));
      waiting.push(...outputs[name].imports.filter((one) => one.kind === "import-statement").map((one) => one.path));
    }
  }
  return found;
}
