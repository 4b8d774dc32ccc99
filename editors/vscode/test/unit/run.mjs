// Bundles the unit tests and runs them with Node: `AYE_TEST_PROGRAM=… npm test`.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(here, "../../dist/test");
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
  absWorkingDir: here, entryPoints: tests, bundle: true, platform: "node", target: "node20", format: "esm", outdir: out, outExtension: { ".js": ".mjs" },
  alias: { "aye-page": path.resolve(here, "../../../../crates/aye/src/serve/page") }, external: ["bufferutil", "utf-8-validate"], logLevel: "warning",
  // `ws` and `yaml` ask for Node's own modules by `require`.
  banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);" },
});
const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...tests.map((name) => path.join(out, name.replace(/\.ts$/, ".mjs")))], { stdio: "inherit" });
process.exit(status ?? 1);
