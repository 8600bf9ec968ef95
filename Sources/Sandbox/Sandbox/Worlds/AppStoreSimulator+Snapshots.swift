package import AppStore
internal import JSON

/// Reset, snapshot and restore of one world.
extension AppStoreSimulator {
  /// The products that the world sells, as a snapshot names them.
  private var catalog: JSONValue { .array(apps.map { .object($0.json) }) }

  /// Everything up to now.
  package func snapshot() throws(SandboxError) -> WorldSnapshot {
    catchUp()
    let lines = try journal.lines()
    return WorldSnapshot(
      at: world.now, speed: clock.setting.speed, lines: lines, faults: faults, limit: traffic.limit,
      catalog: catalog)
  }

  /// Begins again without accounts, purchases, faults and notifications, at `start` and in real time.
  ///
  /// - Parameter start: the simulated time, not in the future of the machine; `nil` is the machine's time. A world whose
  ///   clock a service follows ignores it and keeps its time and speed.
  /// - Throws: ``SandboxError`` if the directory of the world cannot be written.
  package func reset(start: Instant? = nil) async throws(SandboxError) {
    await stopDelivery()
    let time = keepsTime ? clock.now() : start ?? clock.machineNow()
    let speed = keepsTime ? clock.setting.speed : 1
    let scratch = SandboxClock { time }
    var (world, history) = Self.replay([], apps: apps, clock: scratch)
    var entries = beginning(&world, at: time, speed: speed)
    entries += Self.perform(settings, in: &world)
    for entry in entries { history.append(entry, at: time, notifications: world.notifications.count) }
    try replace(world, history, lines: entries.map { $0.line(at: time) }, at: time, speed: speed)
    (faults, traffic) = (Faults(), ServerAPITraffic())
  }

  /// Continues from a snapshot of this world or of another one with the same products.
  ///
  /// - Throws: ``SandboxError/actionFailed(_:)`` if the products differ, or if the clock would have to go back and a
  ///   service follows it.
  package func restore(_ snapshot: WorldSnapshot) async throws(SandboxError) {
    guard snapshot.catalog == catalog else {
      throw .actionFailed(.notPossible("the snapshot is of a world with other products"))
    }
    let entries: [(at: Instant, entry: Journal.Entry)]
    do throws(SandboxError) { entries = try Journal.entries(of: snapshot.lines, from: "the snapshot") } catch
    {
      throw .actionFailed(.notPossible(error.description))
    }
    guard zip(entries, entries.dropFirst()).allSatisfy({ $0.at <= $1.at }),
      entries.last.map({ $0.at <= snapshot.at }) ?? true
    else { throw .actionFailed(.wrongType(member: "journal", expected: "lines in the order of time")) }
    await stopDelivery()
    if keepsTime, snapshot.at < clock.now() {
      throw .actionFailed(
        .notPossible(
          "a service follows the clock of this world, so it cannot go back to \(snapshot.at); restore in another world"
        ))
    }
    let scratch = SandboxClock { snapshot.at }
    var (world, history) = Self.replay(entries, apps: apps, clock: scratch)
    world.advance(to: snapshot.at)
    let added = beginning(&world, at: snapshot.at, speed: snapshot.speed)
    for entry in added { history.append(entry, at: snapshot.at, notifications: world.notifications.count) }
    try replace(
      world, history, lines: snapshot.lines + added.map { $0.line(at: snapshot.at) }, at: snapshot.at,
      speed: snapshot.speed)
    (faults, traffic) = (snapshot.faults, ServerAPITraffic(limit: snapshot.limit))
  }

  /// Responds to `deliver`, `reset` and the `PUT` of a `snapshot`.
  func worldCall(_ name: String, _ body: [UInt8]) async throws -> JSONObject {
    let parameters = body.isEmpty ? Parameters([:]) : try Parameters(body: body)
    switch name {
    case "deliver":
      try parameters.allow(only: [])
      let earlier = attemptCount
      await processDue()
      return ["attempts": JSONValue(max(0, attemptCount - earlier))]
    case "snapshot": try await restore(WorldSnapshot(parameters.json))
    default:
      try parameters.allow(only: ["start"])
      let start = try parameters.instantIfPresent("start")
      guard start.map({ $0 <= clock.machineNow() }) ?? true else {
        throw ActionError.wrongType(member: "start", expected: "a time that is not in the future")
      }
      try await reset(start: start)
    }
    return clockState
  }

  /// The number of all delivery attempts.
  private var attemptCount: Int64 {
    world.notifications.indices.reduce(0) { $0 + Int64(world.notifications[$1].attempts.count) }
  }

  /// Gives the world an origin; returns the entries with which a world begins, or continues as another one.
  private func beginning(_ world: inout World, at time: Instant, speed: Int64) -> [Journal.Entry] {
    let origin = WorldOrigin.next(at: clock.machineNow())
    world.begin(at: origin)
    return [
      .origin(origin),
      .clock(SandboxClock.Setting(sandbox: time, machine: clock.machineNow(), speed: speed)),
    ]
  }
}
