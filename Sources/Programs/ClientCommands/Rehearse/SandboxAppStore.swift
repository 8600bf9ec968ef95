internal import CommandSupport
internal import Conformance
internal import JSON
internal import SandboxClient

/// A running sandbox as the App Store of a rehearsal.
struct SandboxAppStore: RotatingAppStore {
  /// The app whose products it sells.
  let app: String
  private let sandbox: SandboxClient
  /// The product that the documents are about.
  private let product: String
  private let isSubscription: Bool

  /// An App Store for the first subscription of an app, or another product if it sells no subscription.
  ///
  /// - Throws: ``Failure`` if the sandbox cannot be reached or the app sells nothing.
  init(_ sandbox: SandboxClient, app: String) async throws {
    let apps = try await sandbox.request("GET", "apps").json["apps"]?.arrayValue ?? []
    let found = apps.compactMap(\.objectValue).first { $0["app"]?.stringValue == app }
    let products = (found?["products"]?.arrayValue ?? []).compactMap(\.objectValue)
    let subscription = products.first { $0["type"]?.stringValue == "Auto-Renewable Subscription" }
    guard let product = (subscription ?? products.first)?["productId"]?.stringValue else {
      throw Failure("the sandbox sells no product of the app '\(app)'")
    }
    self.app = app
    self.sandbox = sandbox
    self.product = product
    isSubscription = subscription != nil
  }

  func document(_ kind: RehearsedDocument.Kind) async throws(RehearsalFailure) -> String? {
    guard isSubscription || kind != .renewalInfo else { return nil }
    let path = kind == .receipt ? "app-receipt" : kind.rawValue
    let answer = try await call(
      "documents/\(path)", ["app": .string(app), "productId": .string(product)])
    return answer["document"]?.stringValue
  }

  func rotate(_ certificate: RotatedCertificate, revoking: Bool) async throws(RehearsalFailure) {
    try await call(
      "rotate", ["certificate": .string(certificate.rawValue), "revoke": .bool(revoking)])
  }

  func setFuture(fields: Bool, types: Bool) async throws(RehearsalFailure) {
    try await call(
      "future-documents", ["app": .string(app), "fields": .bool(fields), "types": .bool(types)])
  }

  func revokeKey(_ id: String) async throws(RehearsalFailure) {
    try await call("revoke-key", ["keyId": .string(id)])
  }

  @discardableResult
  private func call(_ path: String, _ members: JSONObject) async throws(RehearsalFailure) -> JSONObject {
    do { return try await sandbox.post(path, members).json } catch {
      throw RehearsalFailure("sandbox: \(error)")
    }
  }
}
