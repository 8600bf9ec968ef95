internal import Platform

/// One thing that the doctor looks at; one line of its report. A check changes nothing here; those of Apple request a
/// test notification and read.
package protocol DoctorCheck: Sendable {
  /// The subject of the check, for example `tls`. The same for all subjects.
  var name: String { get }

  /// The host, the app or the file that is checked; empty if there is only one.
  var subject: String { get }

  /// The time after which the check counts as failed.
  var timeLimit: Duration { get }

  /// Makes the check once. Cancelled at ``timeLimit``. It does not throw: an error is a fault with the action that
  /// resolves it.
  func run() async -> Finding
}

/// The outcome of a check.
package enum Finding: Hashable, Sendable {
  /// All is well; the text is a fact, such as the days that are left.
  case ok(String)
  /// Something is wrong; `action` says what to do.
  case fault(String, action: String)
  /// The check needs something that is missing; `action` says what to do so that it can run.
  case notChecked(String, action: String)

  /// Whether something is wrong.
  package var isFault: Bool { if case .fault = self { true } else { false } }

  /// The outcome in one word, for programs.
  package var status: String {
    switch self {
    case .ok: "OK"
    case .fault: "FAULT"
    case .notChecked: "NOT_CHECKED"
    }
  }

  /// The fact, without what to do.
  package var detail: String {
    switch self {
    case .ok(let detail), .fault(let detail, _), .notChecked(let detail, _): detail
    }
  }

  /// The action to take; empty if all is well.
  package var action: String {
    switch self {
    case .ok: ""
    case .fault(_, let action), .notChecked(_, let action): action
    }
  }

  /// The outcome for people: `ok`, or what is wrong and what to do.
  package var text: String {
    switch self {
    case .ok(let detail): "ok  \(detail)"
    case .fault(let detail, let action): "FAULT  \(detail); \(action)"
    case .notChecked(let detail, let action): "not checked  \(detail); \(action)"
    }
  }
}

/// The outcomes of all checks, in their order.
package struct DoctorReport: Sendable {
  /// The outcome of one check.
  package struct Line: Hashable, Sendable {
    /// ``DoctorCheck/name``.
    package let check: String
    /// ``DoctorCheck/subject``.
    package let subject: String
    /// The outcome; a fault for a check that passed its time limit.
    package let finding: Finding
  }

  /// In the order of the checks.
  package private(set) var lines: [Line] = []

  /// Whether no check found a fault.
  package var isHealthy: Bool { lines.allSatisfy { !$0.finding.isFault } }

  /// Runs the checks one after the other, because later ones use what earlier ones received. Calls `announce` before
  /// each check.
  package static func run(
    _ checks: [any DoctorCheck], announce: (any DoctorCheck) -> Void = { _ in }
  ) async -> DoctorReport {
    var report = DoctorReport()
    for check in checks {
      announce(check)
      let finding = await withTimeLimit(check.timeLimit) { await check.run() }
      report.lines.append(
        Line(
          check: check.name, subject: check.subject,
          finding: finding
            ?? .fault(
              "no result within \(check.timeLimit.components.seconds) s",
              action: "check the network, and try again")
        ))
    }
    return report
  }
}
