internal import AppStore
internal import JSON

/// Many customers at once.
extension AppStoreSimulator {
  /// Lets `customers` live for some time: each quarter of a day some of them do something, and what is to be told is
  /// told, of different purchases at once.
  ///
  /// - Returns: how much was done and refused, and how often what was told.
  func live(_ parameters: Parameters) async throws -> JSONObject {
    try parameters.allow(only: ["app", "customers", "by", "seed", "actionsPerDay"])
    let name = try parameters.string("app")
    guard let app = world.app(name) else { throw ActionError.unknownApp(name, known: apps.map(\.id)) }
    let customers = try parameters.integer("customers", in: 1...100_000)
    let perDay = try parameters.integerIfPresent("actionsPerDay") ?? customers / 100 + 1
    guard let length = try parameters.durationIfPresent("by") else { throw ActionError.missingMember("by") }
    guard (0...100_000).contains(perDay) else {
      throw ActionError.wrongType(member: "actionsPerDay", expected: "0 to 100000")
    }
    var life = RandomLife(
      app: app, customers: Int(customers),
      seed: UInt64(bitPattern: try parameters.integerIfPresent("seed") ?? 1))
    let earlier = world.notifications.count
    let (done, refused) = try await live(&life, for: length, perDay: Int(perDay))
    return [
      "now": .string(clock.now().description), "done": JSONValue(Int64(done)),
      "refused": JSONValue(Int64(refused)), "notifications": .object(count(world.notifications.dropFirst(earlier))),
    ]
  }

  private func live(
    _ life: inout RandomLife, for length: Int64, perDay: Int
  ) async throws(SandboxError) -> (done: Int, refused: Int) {
    var (done, refused, left) = (0, 0, length)
    while left > 0 {
      let step = min(left, Self.randomStep)
      for _ in 0..<life.count(perDay: perDay) {
        let randomAction = life.next(in: world)
        do {
          _ = try execute(randomAction.action, Parameters(randomAction.members))
          done += 1
        } catch SandboxError.actionFailed {
          refused += 1
        }
      }
      try await advanceClock(by: step, concurrency: Self.postConcurrency)
      left -= step
    }
    return (done, refused)
  }

  /// A quarter of a day, in milliseconds.
  private static let randomStep: Int64 = 21_600_000
  /// How many notifications are on the way at a time.
  private static let postConcurrency = 16

  private func count(_ notifications: some Sequence<SandboxNotification>) -> JSONObject {
    var counts: [String: Int64] = [:]
    for notification in notifications { counts[notification.name, default: 0] += 1 }
    return JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })
  }
}
