// Bundles the extension and the scripts of its panels into dist/.
//   node build.mjs           once
//   node build.mjs --watch   again after each change

import { context } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../..");
// The web page's own modules: one fold, one set of views.
const alias = { "aye-page": path.join(root, "crates/aye/src/serve/page") };
const shared = { absWorkingDir: here, bundle: true, alias, minify: !process.argv.includes("--watch"), sourcemap: false, logLevel: "warning", outdir: "dist", legalComments: "none" };

await mkdir(path.join(here, "dist"), { recursive: true });
await copyFile(path.join(root, "docs/reference/skill.schema.json"), path.join(here, "dist/skill.schema.json"));
const builds = await Promise.all([
  // `ws` uses these two where they are installed; they are not.
  context({ ...shared, entryPoints: { extension: "src/extension.ts" }, platform: "node", target: "node20", format: "cjs", external: ["vscode", "bufferutil", "utf-8-validate"] }),
  context({ ...shared, entryPoints: { panel: "src/panel/panel.ts", graph: "src/panel/graph.ts" }, platform: "browser", target: "es2022", format: "esm" }),
]);
if (process.argv.includes("--watch")) await Promise.all(builds.map((build) => build.watch()));
else for (const build of builds) {
  await build.rebuild();
  await build.dispose();
}
