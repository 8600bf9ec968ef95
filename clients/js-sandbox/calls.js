// Calls of the sandbox's JSON interface.

/** A call that the sandbox refused, such as a purchase of an unknown product. */
export class SandboxError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "SandboxError";
    this.status = status;
    this.code = code;
  }
}

/** Makes a call with JSON; returns the decoded response, or the text of one that is not JSON. */
export async function call(url, method = "GET", body = undefined) {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(url, { method, ...json });
  const text = await response.text();
  const isJSON = response.headers.get("content-type")?.startsWith("application/json");
  if (response.ok) return isJSON ? JSON.parse(text) : text;
  const error = isJSON ? JSON.parse(text).error : undefined;
  throw new SandboxError(response.status, error?.code ?? "HTTP_ERROR", error?.message ?? text.slice(0, 200));
}
