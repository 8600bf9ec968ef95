package import JSON

/// A backend that the vectors are played against.
///
/// State belongs to a run: a backend keeps the runs apart, or discards the last one at ``begin(run:)``.
package protocol BackendUnderTest: Sendable {
  /// Prepares an empty state for a run, counted from 0.
  func begin(run: Int) async throws(BackendFailure)

  /// Presents a document, and returns the backend's verdict. Changes no state of a run.
  func verify(_ vector: VerificationVector) async throws(BackendFailure) -> VerificationAnswer

  /// Delivers the document of a step about `customer`.
  func deliver(_ step: Lifecycle.Step, of customer: String, run: Int) async throws(BackendFailure)

  /// Returns the state of `entitlement` at an instant, in milliseconds since 1970.
  func state(of customer: String, _ entitlement: String, at: Int64, run: Int) async throws(BackendFailure)
    -> StateAnswer
}

/// The reason a call of a backend gave no answer.
package struct BackendFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cause, for people.
  package let description: String
  /// Whether no response arrived, so that further calls would fail in the same way.
  package let isUnreachable: Bool

  /// Creates a failure.
  package init(_ description: String, isUnreachable: Bool = false) {
    self.description = description
    self.isUnreachable = isUnreachable
  }
}

/// A backend's answer about a document.
package enum VerificationAnswer: Hashable, Sendable {
  /// Verified, with the decoded payload if the backend shows it.
  case accepted(payload: JSONObject?)
  /// Not verified, with the reason's code if the backend has codes of the kit.
  case rejected(reason: String?)
  /// The backend does not verify documents of this kind.
  case unsupported

  /// The answer as a report names it.
  var text: String {
    switch self {
    case .accepted: "accepted"
    case .rejected(let reason): "rejected" + (reason.map { " (\($0))" } ?? "")
    case .unsupported: "unsupported"
    }
  }
}

/// A backend's answer about an entitlement.
package struct StateAnswer: Hashable, Sendable {
  /// The end of access.
  package enum End: Hashable, Sendable {
    /// The backend does not state it.
    case notStated
    /// There is none: no expiry, or no access ever.
    case none
    /// Milliseconds since 1970.
    case at(Int64)
  }

  /// Whether access is granted.
  package let isEntitled: Bool
  /// A status of the kit; `nil` if the backend does not state it.
  package let status: String?
  /// The end of access, as far as the backend states it.
  package let until: End

  /// Creates an answer; a backend states as much as it can.
  package init(isEntitled: Bool, status: String? = nil, until: End = .notStated) {
    self.isEntitled = isEntitled
    self.status = status
    self.until = until
  }
}
