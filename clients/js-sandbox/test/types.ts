// How the types are used; `tsc` checks it, and nothing runs it.
import { type AppStore, NotRenewedError, Sandbox, SandboxError, type Snapshot, type TestContext, appStore } from "../sandbox.js";

export async function use(t: TestContext): Promise<string> {
  const store: AppStore = await appStore(t, { storekit: "Products.storekit", bundleId: "com.example.shop" });
  const bought = await store.buy("pro.monthly", { account: "ann", appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138" });
  const base: Snapshot = await store.snapshot();
  try {
    await store.renew(bought);
  } catch (error) {
    if (error instanceof NotRenewedError) await store.restore(base);
    if (error instanceof SandboxError) return error.code;
  }
  const names: string[] = await store.advance(new Date());
  const variables: Record<string, string> = store.environment({ tls: true });
  const sandbox = await Sandbox.start({ arguments: ["--max-worlds", "10"] });
  await sandbox.close();
  return bought.expires?.toISOString() ?? names[0] ?? variables["APP_STORE_URL"] ?? "";
}

export function misuse(store: AppStore): void {
  // @ts-expect-error: a number is no duration
  void store.advance(32);
  // @ts-expect-error: only a test has an App Store
  new Sandbox("http://127.0.0.1:8090");
}
