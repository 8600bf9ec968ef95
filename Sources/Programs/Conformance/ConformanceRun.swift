internal import AppStore
internal import JSON

/// Plays the vectors of a kit against a backend: each document once, and each life in several orders of its documents,
/// because the App Store guarantees none.
package struct ConformanceRun {
  /// The group of lifecycles that are delivered in their order, with the state after every step.
  static let inOrder = "lifecycles"
  /// The group of lifecycles that are delivered in other orders, with the final state.
  static let inAnyOrder = "lifecycles-in-any-order"

  private let kit: ConformanceKit
  private let backend: any BackendUnderTest
  /// The groups to play; empty: all.
  private let groups: Set<String>

  /// - Throws: ``ConformanceKitError`` if the kit has no group of such a name.
  package init(_ kit: ConformanceKit, against backend: any BackendUnderTest, only groups: [String] = [])
    throws(ConformanceKitError)
  {
    let known = kit.groups.map(\.name) + [Self.inOrder, Self.inAnyOrder]
    for group in groups where !known.contains(group) {
      throw ConformanceKitError(
        file: "group '\(group)'", problem: "unknown; the kit has \(known.joined(separator: ", "))")
    }
    self.kit = kit
    self.backend = backend
    self.groups = Set(groups)
  }

  /// Plays the vectors, and calls `announce` before each one.
  ///
  /// - Throws: ``BackendFailure`` if the backend cannot begin a run; a failure of a later call fails its vector.
  package func report(announce: (String) -> Void = { _ in }) async throws(BackendFailure) -> ConformanceReport
  {
    var report = ConformanceReport()
    try await backend.begin(run: 0)
    for group in kit.groups where isSelected(group.name) {
      for vector in group.vectors {
        announce("\(group.name)/\(vector.name)")
        let result = await result(of: vector)
        report.add(
          VectorResult(
            group: group.name, name: vector.name, level: result.level ?? vector.level, note: vector.note,
            result: result.result))
      }
    }
    for run in 0..<kit.runs {
      let group = run == 0 ? Self.inOrder : Self.inAnyOrder
      guard isSelected(group) else { continue }
      if run > 0 { try await backend.begin(run: run) }
      for life in kit.lifecycles {
        let name = run == 0 ? life.name : "\(life.name) (\(DeliveryOrder(run: run).name))"
        announce("\(group)/\(name)")
        let result = await result(of: life, run: run)
        report.add(
          VectorResult(group: group, name: name, level: life.level, note: life.note, result: result))
      }
    }
    return report
  }

  /// Whether the group is played.
  private func isSelected(_ group: String) -> Bool { groups.isEmpty || groups.contains(group) }

  /// The result of a vector, and its level if it is not that of the vector.
  private func result(of vector: VerificationVector) async -> (
    result: VectorResult.Result, level: VectorLevel?
  ) {
    let answer: VerificationAnswer
    do throws(BackendFailure) { answer = try await backend.verify(vector) } catch {
      return (.failed(expected: vector.expectation.text, got: "no answer: \(error)"), nil)
    }
    switch (vector.expectation, answer) {
    case (_, .unsupported): return (.skipped, nil)
    case (.accepted(let expected), .accepted(let payload)):
      guard let payload, let fault = expected.difference(in: payload) else { return (.passed, nil) }
      return (.failed(expected: "accepted, with \(fault.expected)", got: "accepted, with \(fault.got)"), nil)
    case (.rejected(let reasons), .rejected(let reason)):
      guard let reason, !reasons.contains(reason) else { return (.passed, nil) }
      // The verdict protects the backend, the reason only helps its operator.
      return (.failed(expected: vector.expectation.text, got: answer.text), .recommended)
    default: return (.failed(expected: vector.expectation.text, got: answer.text), nil)
    }
  }

  /// The result of a life in one run.
  private func result(of life: Lifecycle, run: Int) async -> VectorResult.Result {
    do throws(BackendFailure) {
      return run == 0 ? try await resultInOrder(of: life) : try await resultInAnyOrder(of: life, run: run)
    } catch {
      return .failed(expected: "an answer", got: "none: \(error)")
    }
  }

  /// The first state that is wrong after any step.
  private func resultInOrder(of life: Lifecycle) async throws(BackendFailure) -> VectorResult.Result {
    for (index, step) in life.steps.enumerated() {
      try await backend.deliver(step, of: life.customer, run: 0)
      for state in step.expected {
        let answer = try await backend.state(of: life.customer, state.entitlement, at: state.at, run: 0)
        guard !state.matches(answer) else { continue }
        return .failed(
          expected: "after step \(index + 1) (\(step.note)) \(state.text)", got: state.text(of: answer))
      }
    }
    return .passed
  }

  /// The first final state that is wrong after all documents arrived.
  private func resultInAnyOrder(of life: Lifecycle, run: Int) async throws(BackendFailure)
    -> VectorResult.Result
  {
    for index in DeliveryOrder(run: run).indices(count: life.steps.count) {
      try await backend.deliver(life.steps[index], of: life.customer, run: run)
    }
    for state in life.steps.last?.expected ?? [] {
      let answer = try await backend.state(of: life.customer, state.entitlement, at: state.at, run: run)
      guard !state.matches(answer) else { continue }
      return .failed(expected: "in the end \(state.text)", got: state.text(of: answer))
    }
    return .passed
  }
}

/// An order in which the documents of a lifecycle arrive. The number of the run determines it, so that a failure can be
/// repeated.
struct DeliveryOrder {
  let run: Int

  /// The order as a report names it.
  var name: String {
    switch run {
    case 0: "in order"
    case 1: "reversed"
    case 2: "each document twice"
    default: "shuffled \(run - 2)"
    }
  }

  /// The positions of the documents, in the order of delivery; the same in each call.
  func indices(count: Int) -> [Int] {
    let all = Array(0..<count)
    switch run {
    case 0: return all
    case 1: return all.reversed()
    case 2: return all.flatMap { [$0, $0] } + all.reversed()
    default:
      var generator = ShuffleGenerator(state: UInt64(run))
      return all.shuffled(using: &generator)
    }
  }
}

/// SplitMix64: the same numbers on every machine.
private struct ShuffleGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension VerificationVector.Expectation {
  fileprivate var text: String {
    switch self {
    case .accepted: "accepted"
    case .rejected(let reasons): "rejected (\(reasons.joined(separator: " or ")))"
    }
  }
}

extension JSONObject {
  /// The first member that `other` lacks or has with another value.
  fileprivate func difference(in other: JSONObject) -> (expected: String, got: String)? {
    for (name, value) in self where other[name] != value {
      return ("\(name) \(value.text)", "\(name) \(other[name]?.text ?? "missing")")
    }
    return nil
  }
}

extension ExpectedState {
  /// Whether an answer agrees in all that it states.
  fileprivate func matches(_ answer: StateAnswer) -> Bool {
    guard answer.isEntitled == isEntitled, answer.status == nil || answer.status == status else {
      return false
    }
    return switch answer.until {
    case .notStated: true
    case .none: until == nil
    case .at(let instant): until == instant
    }
  }

  /// The state as a sentence.
  fileprivate var text: String {
    "at \(Instant(millisecondsSince1970: at)) '\(entitlement)' is "
      + Self.text(isEntitled, status, until.map { .at($0) } ?? .none)
  }

  fileprivate func text(of answer: StateAnswer) -> String {
    Self.text(answer.isEntitled, answer.status, answer.until)
  }

  private static func text(_ isEntitled: Bool, _ status: String?, _ until: StateAnswer.End) -> String {
    let end =
      switch until {
      case .notStated: ""
      case .none: " without an end"
      case .at(let instant): " until \(Instant(millisecondsSince1970: instant))"
      }
    return (isEntitled ? "entitled" : "not entitled") + (status.map { ", \($0)" } ?? "") + end
  }
}
