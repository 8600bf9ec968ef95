import Conformance
import JSON

/// A backend with the expected answers, except those that a test changes.
struct PerfectBackend: BackendUnderTest {
  /// Other answers, by group and name of the vector.
  var verdicts: [String: VerificationAnswer] = [:]
  /// The answer about every state in all runs but the first.
  var answersOfOtherRuns: StateAnswer?
  /// Whether every call but the first one fails.
  var isSilent = false
  var isUnreachable = false

  private let lives: [String: Lifecycle]
  private let groups: [VerificationVector: String]

  init() throws {
    let kit = try ConformanceKit.embedded()
    lives = Dictionary(uniqueKeysWithValues: kit.lifecycles.map { ($0.customer, $0) })
    groups = Dictionary(
      uniqueKeysWithValues: kit.groups.flatMap { group in group.vectors.map { ($0, group.name) } })
  }

  func begin(run: Int) async throws(BackendFailure) {
    if isUnreachable { throw BackendFailure("connection refused") }
  }

  func verify(_ vector: VerificationVector) async throws(BackendFailure) -> VerificationAnswer {
    if isSilent { throw BackendFailure("HTTP 500") }
    if let answer = verdicts["\(groups[vector] ?? "")/\(vector.name)"] { return answer }
    return switch vector.expectation {
    case .accepted(let payload): .accepted(payload: payload)
    case .rejected(let reasons): .rejected(reason: reasons[0])
    }
  }

  func deliver(_ step: Lifecycle.Step, of customer: String, run: Int) async throws(BackendFailure) {
    if isSilent { throw BackendFailure("HTTP 500") }
  }

  func state(of customer: String, _ entitlement: String, at: Int64, run: Int) async throws(BackendFailure)
    -> StateAnswer
  {
    if run > 0, let answersOfOtherRuns { return answersOfOtherRuns }
    let expected = lives[customer]?.steps.flatMap(\.expected).filter {
      $0.at == at && $0.entitlement == entitlement
    }
    guard let state = expected?.last else { throw BackendFailure("no vector asks this") }
    return StateAnswer(
      isEntitled: state.isEntitled, status: state.status, until: state.until.map { .at($0) } ?? .none)
  }
}
