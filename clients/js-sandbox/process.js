// A running sandbox: a process started here, or one that already runs.
import { spawn } from "node:child_process";
import { X509Certificate, randomUUID } from "node:crypto";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { AppStore } from "./app-store.js";
import { call } from "./calls.js";

const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"];

/** An App Store simulator with any number of independent worlds. */
export class Sandbox {
  #process;
  #folder;

  constructor(url, tlsUrl, process) {
    this.url = url.replace(/\/+$/, "");
    this.tlsUrl = tlsUrl?.replace(/\/+$/, "");
    this.#process = process;
  }

  /** Starts the program on free ports of this machine, with the state in memory. It ends with this process. */
  static async start({ program = process.env.ENTITLED_SANDBOX_PROGRAM, arguments: more = [] } = {}) {
    const [file, ...before] = findProgram(program);
    const options = ["serve", "--in-memory", "--sandbox", "127.0.0.1:0", "--tls", "127.0.0.1:0", ...more];
    // Settings of another sandbox must not apply to this one.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ENTITLED_")));
    const child = spawn(file, [...before, ...options], { env, stdio: ["ignore", "pipe", "pipe"] });
    const kill = () => child.kill();
    // A signal without a listener ends the process without the event `exit`.
    const killFor = (signal) => {
      kill();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.once("exit", kill);
    for (const signal of ENDING) process.once(signal, killFor);
    child.once("exit", () => {
      process.off("exit", kill);
      for (const signal of ENDING) process.off(signal, killFor);
    });
    let log = "";
    child.stderr.on("data", (data) => (log += data));
    const line = await new Promise((resolve, reject) => {
      createInterface(child.stdout).once("line", resolve);
      child.once("error", reject);
      child.once("close", () => reject(new Error(`${file} did not start: ${log.trim()}`)));
    });
    // Neither the process nor its pipes keep the tests running.
    for (const one of [child, child.stdout, child.stderr]) one.unref();
    const ready = Object.fromEntries(line.split(" ").slice(1).map((part) => part.split("=")));
    return new Sandbox(`http://${ready.sandbox}`, `https://${ready.tls}`, child);
  }

  /** Uses a sandbox that runs already. */
  static async connect(url, tlsUrl) {
    const sandbox = new Sandbox(url, tlsUrl);
    await call(`${sandbox.url}/sandbox/v1/worlds`);
    return sandbox;
  }

  /** Creates a world whose name begins with `name`; `members` are those of `POST /sandbox/v1/worlds`. */
  async create(name = "test", members = {}) {
    const fit = name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "") || "test";
    const world = `${fit}-${randomUUID().slice(0, 13)}`;
    const created = await call(`${this.url}/sandbox/v1/worlds`, "POST", { name: world, ...members });
    return this.#store(world, created.apps[0]);
  }

  /** The world at `/`, for clients that cannot be given a path. Tests that use it must not run in parallel. */
  async default() {
    const { apps } = await call(`${this.url}/sandbox/v1/apps`);
    return this.#store("", apps[0].app);
  }

  async #store(world, app) {
    const { apps } = await call(`${this.url}${world && `/w/${world}`}/sandbox/v1/apps`);
    return new AppStore(this, world, app, apps.find((one) => one.app === app).bundleId, await this.#roots());
  }

  /** The root certificates, as files and as texts. */
  async #roots() {
    if (this.#folder) return this.#folder;
    const rootPem = await call(`${this.url}/sandbox/v1/root`);
    const tlsRoot = await call(`${this.url}/sandbox/v1/tls-root`).catch((error) => {
      if (error.status !== 404) throw error;
    });
    const folder = mkdtempSync(path.join(tmpdir(), "entitled-sandbox-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const files = { rootPem: path.join(folder, "root.pem"), rootDer: path.join(folder, "root.der") };
    writeFileSync(files.rootPem, rootPem);
    writeFileSync(files.rootDer, new X509Certificate(rootPem).raw);
    if (tlsRoot) writeFileSync((files.tlsRoot = path.join(folder, "tls-root.pem")), tlsRoot);
    this.#folder = files;
    return files;
  }

  /** Ends the process, if this object started it. */
  async close() {
    const child = this.#process;
    if (!child || child.exitCode !== null) return;
    child.ref();
    await new Promise((resolve) => child.once("exit", resolve) && child.kill());
  }
}

/** The command before `serve`. */
function findProgram(program) {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  for (const name of program ? [program] : ["entitled-sandbox", "entitled"]) {
    const files = name.includes(path.sep) ? [name] : folders.map((folder) => path.join(folder, name));
    const file = files.find(isExecutable);
    if (file) return path.basename(file).includes("sandbox") ? [file] : [file, "sandbox"];
  }
  throw new Error(
    `${program ?? "entitled-sandbox"} is not in PATH; install it, set ENTITLED_SANDBOX_PROGRAM to its path, or ` +
      "ENTITLED_SANDBOX_URL to the address of a running sandbox");
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
