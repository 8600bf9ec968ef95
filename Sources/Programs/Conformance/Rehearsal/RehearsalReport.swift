package import JSON

/// A backend's answer about one document in one stage.
package struct RehearsalResult: Hashable, Sendable {
  /// The backend's verdict about a document.
  package enum Outcome: Hashable, Sendable {
    /// The backend trusts the document.
    case accepted
    /// Refused, with the backend's reason if it has one.
    case refused(String?)
    /// The backend does not support the kind of document.
    case skipped
  }

  /// The state of Apple's certificates when it was presented.
  package let stage: RehearsalStage
  /// ``RehearsedDocument/name``.
  package let document: String
  /// Whether the backend had to accept it.
  package let origin: RehearsedDocument.Origin
  /// The backend's verdict.
  package let outcome: Outcome

  /// Whether the outcome is wrong for the document.
  package var isFinding: Bool {
    switch outcome {
    case .accepted: origin != .genuine
    case .refused: origin == .genuine
    case .skipped: false
    }
  }
}

/// The results of all documents, in the order of the stages.
package struct RehearsalReport: Sendable {
  /// In the order of presentation.
  package private(set) var results: [RehearsalResult] = []

  /// A report before the first stage.
  init() {}

  /// Adds the result of the next document.
  mutating func add(_ result: RehearsalResult) { results.append(result) }

  /// Whether no genuine document was refused; `strict` also demands that no forged or revoked one was accepted.
  package func isPassed(strict: Bool) -> Bool {
    !results.contains { $0.isFinding && (strict || $0.origin == .genuine) }
  }

  /// The numbers of one stage.
  package struct Count: Hashable, Sendable {
    /// The stage that is counted.
    package let stage: RehearsalStage
    /// Genuine documents that were presented.
    package internal(set) var genuine = 0
    /// Genuine documents that were refused.
    package internal(set) var refused = 0
    /// Forged documents that were presented.
    package internal(set) var forged = 0
    /// Forged documents that were accepted.
    package internal(set) var forgedAccepted = 0
    /// Documents of revoked certificates that were presented.
    package internal(set) var revoked = 0
    /// Documents of revoked certificates that were accepted.
    package internal(set) var revokedAccepted = 0
    /// Documents of kinds that the backend does not support, which the other numbers leave out.
    package internal(set) var skipped = 0
  }

  /// The numbers of each stage, in order.
  package var counts: [Count] {
    var counts: [Count] = []
    for result in results {
      if counts.last?.stage != result.stage { counts.append(Count(stage: result.stage)) }
      counts[counts.count - 1].add(result)
    }
    return counts
  }

  /// The report for programs.
  package func json(strict: Bool) -> JSONObject {
    let stages = counts.map { count -> JSONValue in
      .object([
        "stage": .string(count.stage.rawValue), "genuine": JSONValue(Int64(count.genuine)),
        "genuineRefused": JSONValue(Int64(count.refused)), "forged": JSONValue(Int64(count.forged)),
        "forgedAccepted": JSONValue(Int64(count.forgedAccepted)), "revoked": JSONValue(Int64(count.revoked)),
        "revokedAccepted": JSONValue(Int64(count.revokedAccepted)),
        "skipped": JSONValue(Int64(count.skipped)),
      ])
    }
    let findings = results.filter(\.isFinding).map { result -> JSONValue in
      .object(
        JSONObject(present: [
          ("stage", .string(result.stage.rawValue)), ("document", .string(result.document)),
          ("origin", .string(result.origin.rawValue)), ("outcome", .string(result.verb)),
          ("reason", result.reason.map(JSONValue.string)),
        ]))
    }
    return [
      "passed": .bool(isPassed(strict: strict)), "stages": .array(stages), "findings": .array(findings),
    ]
  }

  /// The report for people: a table of the stages, and each document that was treated wrongly.
  package var text: String {
    let head = ["stage", "genuine", "refused", "forged", "accepted", "revoked", "accepted", "skipped"]
    let rows = counts.map { count in
      [count.stage.rawValue]
        + [
          count.genuine, count.refused, count.forged, count.forgedAccepted, count.revoked,
          count.revokedAccepted, count.skipped,
        ].map { String($0) }
    }
    return (TextTable.lines([head] + rows) + results.filter(\.isFinding).map(\.findingText))
      .joined(separator: "\n")
  }
}

extension RehearsalReport.Count {
  fileprivate mutating func add(_ result: RehearsalResult) {
    switch (result.origin, result.outcome) {
    case (_, .skipped): skipped += 1
    case (.genuine, _):
      genuine += 1
      refused += result.isFinding ? 1 : 0
    case (.forged, _):
      forged += 1
      forgedAccepted += result.isFinding ? 1 : 0
    case (.revoked, _):
      revoked += 1
      revokedAccepted += result.isFinding ? 1 : 0
    }
  }
}

extension RehearsalResult {
  /// The verdict as a report names it.
  fileprivate var verb: String { if case .accepted = outcome { "accepted" } else { "refused" } }

  fileprivate var reason: String? { if case .refused(let reason) = outcome { reason } else { nil } }

  fileprivate var findingText: String {
    """

    \(verb.uppercased())  \(origin.rawValue)  \(stage.rawValue)/\(document)
      \(stage.title)\(reason.map { ": \($0)" } ?? "")
    """
  }
}

extension RehearsalResult.Outcome {
  /// The outcome of a backend's answer.
  init(_ answer: VerificationAnswer) {
    switch answer {
    case .accepted: self = .accepted
    case .rejected(let reason): self = .refused(reason)
    case .unsupported: self = .skipped
    }
  }
}
