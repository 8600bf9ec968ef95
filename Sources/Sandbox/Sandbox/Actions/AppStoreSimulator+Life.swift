internal import AppStore
internal import JSON

/// An action that a generator of customers selects. The simulator may reject it.
struct GeneratedAction {
  let action: Action
  let members: JSONObject
}

/// Many customers.
extension AppStoreSimulator {
  /// Performs actions of `customers` accounts for a simulated time, in steps of a quarter of a day, and delivers the
  /// notifications after each step. `behavior` is `random` (any action at any time) or `typical` (as the customers of a
  /// business). With the same seed, a new world has the same life again.
  ///
  /// - Returns: the numbers of performed and rejected actions, and of notifications by name.
  /// - Throws: ``ActionError`` for a wrong member before anything happens; ``SandboxError`` of the journal.
  func live(_ parameters: Parameters) async throws -> JSONObject {
    try parameters.allow(only: ["app", "customers", "by", "seed", "actionsPerDay", "behavior"])
    let name = try parameters.string("app")
    guard let app = world.app(name) else { throw ActionError.unknownApp(name, known: apps.map(\.id)) }
    let customers = try parameters.integer("customers", in: 1...100_000)
    let perDay = try parameters.integerIfPresent("actionsPerDay") ?? customers / 100 + 1
    guard let length = try parameters.durationIfPresent("by") else { throw ActionError.missingMember("by") }
    guard (0...100_000).contains(perDay) else {
      throw ActionError.wrongType(member: "actionsPerDay", expected: "0 to 100000")
    }
    try Self.checkReachable(clock.now().advanced(byMilliseconds: length))
    let seed = UInt64(bitPattern: try parameters.integerIfPresent("seed") ?? 1)
    let behavior: Behavior = try parameters.caseIfPresent("behavior") ?? .random
    let earlier = world.notifications.count
    let counts: Counts
    switch behavior {
    case .random:
      var life = RandomLife(app: app, customers: Int(customers), seed: seed)
      counts = try await steps(of: length) { counts throws(SandboxError) in
        for _ in 0..<life.count(perDay: Int(perDay)) { try perform(life.next(in: world), &counts) }
      }
    case .typical:
      var lives = TypicalLives(
        app: app, customers: Int(customers), from: clock.now(), length: length, seed: seed)
      counts = try await steps(of: length) { counts throws(SandboxError) in
        while let action = lives.next(in: world, at: clock.now()) { try perform(action, &counts) }
      }
    }
    return [
      "now": .string(clock.now().description), "done": JSONValue(counts.done),
      "refused": JSONValue(counts.refused),
      "notifications": .object(count(world.notifications.dropFirst(earlier))),
    ]
  }

  /// The behavior of generated customers.
  private enum Behavior: String, CaseIterable {
    case random, typical
  }

  /// Performed and rejected actions.
  private struct Counts {
    var done: Int64 = 0
    var refused: Int64 = 0
  }

  /// Performs an action and counts it. Rejections are expected; other errors end the run.
  private func perform(_ generated: GeneratedAction, _ counts: inout Counts) throws(SandboxError) {
    do {
      _ = try execute(generated.action, Parameters(generated.members))
      counts.done += 1
    } catch SandboxError.actionFailed {
      counts.refused += 1
    }
  }

  /// Runs `body` and advances the clock until `length` milliseconds have passed.
  private func steps(
    of length: Int64, _ body: (inout Counts) throws(SandboxError) -> Void
  ) async throws(SandboxError) -> Counts {
    var (left, counts) = (length, Counts())
    while left > 0 {
      let step = min(left, Self.step)
      try body(&counts)
      try await advanceClock(by: step, concurrency: Self.postConcurrency)
      left -= step
    }
    return counts
  }

  /// Milliseconds of simulated time between two batches of actions: a quarter of a day.
  private static let step: Int64 = 21_600_000
  /// The maximum number of notifications in flight.
  private static let postConcurrency = 16

  /// The numbers of notifications by type and subtype.
  private func count(_ notifications: some Sequence<SandboxNotification>) -> JSONObject {
    var counts: [String: Int64] = [:]
    for notification in notifications { counts[notification.name, default: 0] += 1 }
    return JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })
  }
}
