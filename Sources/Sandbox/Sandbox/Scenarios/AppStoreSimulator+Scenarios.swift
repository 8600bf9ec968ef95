internal import AppStore
package import JSON

extension Scenario {
  /// All scenarios with their steps.
  package static var listJSON: JSONObject {
    [
      "scenarios": .array(
        all.map { scenario in
          [
            "name": .string(scenario.name), "title": .string(scenario.title),
            "summary": .string(scenario.summary),
            "steps": .array(scenario.steps.map { .string($0.meaning) }),
          ]
        })
    ]
  }
}

extension AppStoreSimulator {
  /// Runs a scenario: `{"app": …}`. A step that is rejected ends it with the error; the earlier ones remain. Each step
  /// is performed at the simulated time at which the steps before it have left the clock.
  ///
  /// - Returns: its accounts, and each step with its action, members and notifications.
  /// - Throws: ``ActionError/unknown(what:name:known:)``, ``ActionError/notPossible(_:)`` if the app lacks a product
  ///   for it, and the errors of its steps.
  func runScenario(_ name: String, _ parameters: Parameters) async throws -> JSONObject {
    guard let scenario = Scenario.named(name) else {
      throw ActionError.unknown(what: "scenario", name: name, known: Scenario.all.map(\.name))
    }
    try parameters.allow(only: ["app"])
    let id = try parameters.string("app")
    guard let app = world.app(id) else { throw ActionError.unknownApp(id, known: apps.map(\.id)) }
    catchUp()
    let cast = try ScenarioCast(scenario, app: app, in: world)
    var labels: [String: Int64] = [:]
    var steps: [JSONValue] = []
    for step in scenario.steps {
      let earlier = world.notifications.count
      guard var json = try await perform(step, cast, &labels) else { continue }
      json["notifications"] = .array(world.notifications.dropFirst(earlier).map { .string($0.name) })
      steps.append(.object(json))
    }
    return [
      "scenario": .string(name), "accounts": .array(cast.accounts.map(JSONValue.string)),
      "now": .string(clock.now().description), "steps": .array(steps),
    ]
  }

  /// Performs a step; returns `nil` if the app has no product for it.
  private func perform(
    _ step: Scenario.Step, _ cast: ScenarioCast, _ labels: inout [String: Int64]
  ) async throws -> JSONObject? {
    switch step.instruction {
    case .advance(let length):
      let target = try Parameters(["by": .string(length)]).durationIfPresent("by")
        .map(clock.now().advanced(byMilliseconds:))
      guard let target else { return nil }
      try await advanceClock(to: target)
      return ["meaning": .string(step.meaning), "advance": .string(length)]
    case .perform(let action, let values):
      guard let members = cast.members(values, labels, in: world) else { return nil }
      let outcome = try perform(action, Parameters(members))
      // Delivered before the next step, as with single actions.
      await processDue()
      if let label = step.label { labels[label] = outcome.transactions.first }
      return [
        "meaning": .string(step.meaning), "action": .string(action.rawValue), "with": .object(members),
      ]
    }
  }
}
