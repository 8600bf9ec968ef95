// An App Store simulator for tests of a backend: start it, buy, renew, refund, and let time pass.
import { readFile } from "node:fs/promises";
import { AppStore, NotRenewedError } from "./app-store.js";
import { SandboxError } from "./calls.js";
import { Sandbox } from "./process.js";

export { AppStore, NotRenewedError, Sandbox, SandboxError };

let shared;

/** The sandbox of this process: the one of ENTITLED_SANDBOX_URL, or one that ends with the process. */
export function sandbox() {
  const url = process.env.ENTITLED_SANDBOX_URL;
  shared ??= url ? Sandbox.connect(url, process.env.ENTITLED_SANDBOX_TLS_URL) : Sandbox.start();
  return shared;
}

/** Creates an App Store for a test of node:test, and removes it after the test. */
export async function appStore(t, { storekit, bundleId, app, start } = {}) {
  const members = { bundleId, app, start };
  if (storekit) members.storekit = JSON.parse(await readFile(storekit, "utf8"));
  const store = await (await sandbox()).create(t.name, members);
  t.after(() => store.remove());
  return store;
}
