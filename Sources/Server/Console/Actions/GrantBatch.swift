internal import AppStore
internal import Bytes
internal import RPC
internal import SignedData

/// Grants to many customers, which are undone as one: their end, and the name that their notes contain.
///
/// Both stay the same when the same form is sent again after a failure in its middle, also to another process. The name is
/// part of each grant's idempotency key, so the customers who have their days get no more.
struct GrantBatch: Sendable {
  /// The end of all grants of the batch.
  let until: Instant
  /// The name, which proves that the other values of the form are those of the preview.
  let name: String

  /// The batch of a form, or another one if the form has none for these days and this entitlement.
  init(_ call: ActionCall, days: Int64) async throws(Status) {
    let name = call.form["batch"]
    let seed = String(name.prefix(Self.seedLength))
    if let until = Instant(rfc3339: call.form["until"]), !seed.isEmpty,
      name == Self.name(seed, until, days, call)
    {
      (self.until, self.name) = (until, name)
      return
    }
    until = try await call.visit.time(in: call.scope).advanced(byDays: days)
    let random = (0..<Self.seedLength / 2).map { _ in UInt8.random(in: .min ... .max) }
    self.name = Self.name(Hex.encode(random), until, days, call)
  }

  /// The number of hexadecimal digits at the start of a name.
  private static let seedLength = 12

  /// A random number, and a hash of it with what each grant has.
  private static func name(_ seed: String, _ until: Instant, _ days: Int64, _ call: ActionCall) -> String {
    let parts = [
      seed, until.description, String(days), call.form["entitlement"], call.scope.app,
      call.scope.environment.slug,
    ]
    let hash = Hex.encode(SHA256.hash(Array(parts.joined(separator: "\n").utf8)[...]))
    return seed + hash.prefix(8)
  }
}
