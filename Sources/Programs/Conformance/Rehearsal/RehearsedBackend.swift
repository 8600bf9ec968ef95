package import AppStoreClient
internal import JSON

/// A backend that a rehearsal of rotations tests.
package protocol RehearsedBackend: Sendable {
  /// Verifies a document. A notification endpoint supports notifications only.
  func verify(_ document: RehearsedDocument) async throws(BackendFailure) -> VerificationAnswer

  /// Fetches a transaction from the App Store and verifies it.
  func fetch(transaction id: String) async throws(BackendFailure) -> VerificationAnswer
}

/// The App Store of a rehearsal: a sandbox that signs with certificates that it can replace.
package protocol RotatingAppStore: Sendable {
  /// Makes a purchase and returns a document about it; `nil` if the app sells nothing that has one.
  func document(_ kind: RehearsedDocument.Kind) async throws(RehearsalFailure) -> String?

  /// Replaces a certificate and those below it. `revoking` revokes the one that is replaced.
  func rotate(_ certificate: RotatedCertificate, revoking: Bool) async throws(RehearsalFailure)

  /// Adds unknown members (`fields`) and unknown values of enumerations (`types`) to documents from now on, or stops.
  func setFuture(fields: Bool, types: Bool) async throws(RehearsalFailure)

  /// Rejects calls with tokens of an API key from now on.
  func revokeKey(_ id: String) async throws(RehearsalFailure)
}

/// A certificate of the App Store's chain. The raw values are those of the sandbox's interface.
package enum RotatedCertificate: String, Hashable, Sendable {
  /// Signs the documents.
  case leaf
  /// Issues leaf certificates.
  case intermediate
  /// The trust anchor.
  case root
}

/// The reason a rehearsal cannot continue: the sandbox or the operator's command failed, or the backend is unreachable.
package struct RehearsalFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cause, for people.
  package let description: String
  /// Whether the backend is the cause.
  package let isOfBackend: Bool

  /// Creates a failure, by default of the sandbox or the operator's command.
  package init(_ description: String, isOfBackend: Bool = false) {
    self.description = description
    self.isOfBackend = isOfBackend
  }
}

/// A backend's URL for notifications. Of the statuses that count as success for Apple, 200 to 206, 202 stands for a
/// notification that the backend does not trust; each other status refuses it.
package struct NotificationReceiver: RehearsedBackend {
  private static let timeout = Duration.seconds(30)
  private static let maxResponseBytes = 1 << 20

  private let url: String
  private let exchange: any HTTPExchange

  /// Sends to the URL that App Store Connect would have.
  package init(url: String, exchange: any HTTPExchange) {
    self.url = url
    self.exchange = exchange
  }

  package func verify(_ document: RehearsedDocument) async throws(BackendFailure) -> VerificationAnswer {
    guard document.kind == .notification else { return .unsupported }
    let request = OutgoingRequest(
      method: "POST", url: url, headers: [("content-type", "application/json")],
      body: Array(document.text.utf8))
    let response: IncomingResponse
    do {
      response = try await exchange.send(request, timeout: Self.timeout, limit: Self.maxResponseBytes)
    } catch {
      throw BackendFailure("cannot reach \(url): \(error)", isUnreachable: true)
    }
    guard (200...206).contains(response.status), response.status != 202 else {
      return .rejected(reason: "HTTP \(response.status)")
    }
    return .accepted(payload: nil)
  }

  package func fetch(transaction id: String) async throws(BackendFailure) -> VerificationAnswer {
    .unsupported
  }
}
