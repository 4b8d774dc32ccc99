import { assert, test, until } from "./harness.mjs";
await test({ hello: `
name: hello
steps:
  - name: go
    confirm: { title: Deploy, message: "Ship it now?", timeout: 10m, default: cancel }
  - { name: after, shell: "echo done" }
` }, async (here, host, step) => {
  const w = await host.window(); step("window");
  await w.connected(); step("connected");
  const run = await here.start("hello");
  await w.toast("Ship it now?").waitFor(); step("toast");
  await w.page.screenshot({ path: "/tmp/s1.png" });
  step(await w.said());
  await w.action("Ship it now?", "Proceed").click(); step("clicked");
  await until(async () => JSON.parse(await here.aye("show", run, "--json")).status === "completed", "completed");
  step("completed");
  await w.page.waitForTimeout(1000);
  await w.page.screenshot({ path: "/tmp/s2.png" });
  await w.command("Aye: Open Command Center");
  await w.panel.getByText("live").waitFor(); step("panel");
  await w.page.waitForTimeout(1000);
  await w.page.screenshot({ path: "/tmp/s3.png" });
});
