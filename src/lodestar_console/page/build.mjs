// Bundle the page: src/ into ../lodestar_console/static/console.js, console.css, index.html and icon.svg, with the digest of the sources.
// `node build.mjs FOLDER` writes elsewhere.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "..", "lodestar_console", "static");

/** Files of the sources, in no order. */
function sources(folder = join(here, "src")) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sources(path) : [path];
  });
}

function digest() {
  const hash = createHash("sha256");
  const paths = [...sources(), ...["package.json", "package-lock.json", "build.mjs", "tsconfig.json"].map((name) => join(here, name))];
  for (const path of paths.map((one) => relative(here, one)).sort()) {
    hash.update(`${path}\0`).update(readFileSync(join(here, path))).update("\0");
  }
  return hash.digest("hex");
}

mkdirSync(target, { recursive: true });
const shared = { bundle: true, minify: true, legalComments: "none", absWorkingDir: here, logLevel: "warning" };
await build({
  ...shared,
  entryPoints: ["src/main.tsx"],
  outfile: join(target, "console.js"),
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
});
await build({ ...shared, entryPoints: ["src/console.css"], outfile: join(target, "console.css") });
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", name), join(target, name));
writeFileSync(join(target, "VERSION"), `${digest()}\n`);
