// Builds one page for each published version; they differ only in the package that they import.
import { build } from "esbuild";

const folder = import.meta.dirname;
const versions = { "3.19": "@novu/react", "3.16": "novu-react-3-16" };

for (const [version, name] of Object.entries(versions)) {
  await build({
    absWorkingDir: folder,
    entryPoints: ["page.jsx"],
    outfile: `dist/inbox-${version}.js`,
    bundle: true,
    format: "iife",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    alias: { "published-inbox": name },
    logLevel: "warning",
  });
}
for (const name of ["headless", "chats"]) {
  await build({
    absWorkingDir: folder,
    entryPoints: [`${name}.js`],
    outfile: `dist/${name}.js`,
    bundle: true,
    format: "iife",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
  });
}
