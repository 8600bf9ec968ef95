// Verifies signed documents of the App Store with Node's own crypto, for projects without Apple's library.
import { X509Certificate, verify } from "node:crypto";

// The extensions that mark the certificates with which Apple signs these documents, in DER.
const LEAF = Buffer.from("060a2a864886f76364060b01", "hex"); // 1.2.840.113635.100.6.11.1
const INTERMEDIATE = Buffer.from("060a2a864886f76364060201", "hex"); // 1.2.840.113635.100.6.2.1

export class VerificationError extends Error {}

const decoded = (part) => JSON.parse(Buffer.from(part, "base64url").toString());

/** Verifies a JWS of the App Store under a root certificate; returns its content. */
export function verified(jws, root) {
  const [head, body, signature] = String(jws).split(".");
  let header, content, chain;
  try {
    [header, content] = [decoded(head), decoded(body)];
    chain = header.x5c.map((text) => new X509Certificate(Buffer.from(text, "base64")));
  } catch {
    throw new VerificationError("not a signed document");
  }
  const [leaf, intermediate] = chain;
  if (header.alg !== "ES256" || chain.length !== 3) throw new VerificationError("unexpected header");
  const isSigned = leaf.verify(intermediate.publicKey) && intermediate.verify(root.publicKey);
  const isIssued = leaf.checkIssued(intermediate) && intermediate.checkIssued(root);
  const isApples = intermediate.ca && leaf.raw.includes(LEAF) && intermediate.raw.includes(INTERMEDIATE);
  if (!isSigned || !isIssued || !isApples) throw new VerificationError("the chain does not lead to the root");
  const signed = content.signedDate ?? content.receiptCreationDate;
  for (const { validFrom, validTo } of [leaf, intermediate, root]) {
    if (!(Date.parse(validFrom) <= signed && signed <= Date.parse(validTo))) throw new VerificationError("certificate expired");
  }
  const key = { key: leaf.publicKey, dsaEncoding: "ieee-p1363" };
  if (!verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature ?? "", "base64url"))) {
    throw new VerificationError("the signature does not match");
  }
  return content;
}
