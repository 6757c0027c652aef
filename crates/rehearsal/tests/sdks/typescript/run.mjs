// Runs one case by its name, or lists them: `run.mjs CASE`, `run.mjs --list`.

import { Box, CASES } from "./kit.mjs";
import "./agents.mjs";
import "./control.mjs";
import "./conversation.mjs";
import "./errors.mjs";
import "./hooks.mjs";
import "./interrupts.mjs";
import "./mcp.mjs";
import "./permissions.mjs";
import "./sessions.mjs";
import "./settings.mjs";

// For whatever must happen soon. Long, since a loaded machine is slow; no case waits for it to pass.
const PATIENCE = 45_000;

const [name] = process.argv.slice(2);
if (name === "--list") {
  console.log(Object.keys(CASES).sort().join("\n"));
} else {
  const late = new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`not done after ${PATIENCE} ms`)), PATIENCE).unref();
  });
  try {
    await Promise.race([CASES[name](new Box()), late]);
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
