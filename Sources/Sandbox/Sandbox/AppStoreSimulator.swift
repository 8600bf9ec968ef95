package import AppStore
internal import JSON
package import SignedData

/// A simulator of the App Store: it sells, renews and refunds, sends notifications and answers Apple's APIs.
///
/// Its documents verify under ``root`` and only for the environment `Sandbox`. ``World`` implements the
/// rules. The simulator adds the clock, the journal, signatures and network traffic. Its state survives a
/// restart if its storage does.
package actor AppStoreSimulator {
  /// The root certificate of what the simulator signs, until the root is rotated.
  package nonisolated let root: Certificate
  /// The root certificate to which a rotation changes, and from which the next one changes back.
  package nonisolated let secondRoot: Certificate
  /// The catalog.
  package nonisolated let apps: [SandboxApp]
  /// The simulated time, which can be advanced.
  package nonisolated let clock: SandboxClock

  /// The certificates and keys of the documents; a rotation replaces them.
  private(set) var authority: SandboxAuthority
  let files: any StateFiles
  /// The client by which notifications are sent; `nil` sends none.
  let poster: (any NotificationPoster)?
  /// The log of actions, by which the world is rebuilt.
  var journal: Journal
  /// The latest entries of ``journal``.
  private(set) var history: JournalHistory
  /// The state of the App Store. Every change must be recorded in ``journal``.
  var world: World
  /// The faults that a tester has ordered. They are not persisted.
  var faults = Faults()
  /// The requests of the service, for the tester's view. They are not persisted.
  var traffic = ServerAPITraffic()
  var deliveryLog = DeliveryLog()
  /// The signer of the `foreign-chain` fault, created on first use.
  var foreignSigner: JWSSigner?
  /// Performance tests by request id, not persisted.
  var performanceTests: [String: PerformanceTest] = [:]
  /// The apps whose performance test is running.
  var runningPerformanceTests: Set<String> = []
  /// The running delivery of notifications.
  var delivery: Task<Void, Never>?
  /// The settings with which the world begins, and begins again after a reset.
  let settings: [PresetAction]
  /// Whether the world keeps its clock when it begins again, because a service follows the clock.
  let keepsTime: Bool
  /// The number of resets and restores, so that what was going on before one of them ends.
  var generation = 0
  /// The current ``pause(milliseconds:)``, so that ``wake()`` can end it.
  private var sleeper: Task<Void, Never>?

  /// Opens the simulator with the state in `storage`, which it replays under the present rules and catalog.
  ///
  /// - now: the machine's time.
  /// - settings: what a new world begins with, such as offers; existing state ignores it. Those that the world rejects
  ///   are left out.
  /// - origin: the ids of a new world; `nil` derives them from the time.
  /// - start: the simulated time at which a new world begins, so that it can have a past; existing state ignores it.
  /// - keepsTime: whether a reset or restore leaves the clock as it is; otherwise it sets the clock.
  /// - poster: sends notifications while ``run()`` runs; `nil` sends none.
  ///
  /// - Throws: ``SandboxError``, such as for a journal that is corrupt or of a newer version.
  package init(
    apps: [SandboxApp], settings: [PresetAction] = [], storage: SandboxStorage,
    now: @escaping @Sendable () -> Instant, origin: WorldOrigin? = nil, start: Instant? = nil,
    keepsTime: Bool = false, poster: (any NotificationPoster)? = nil
  ) throws(SandboxError) {
    files = storage.files
    self.settings = settings
    self.keepsTime = keepsTime
    authority = try SandboxAuthority(directory: files, now: now())
    var journal = try Journal(storage.journal)
    clock = SandboxClock(machine: now)
    root = authority.root
    secondRoot = authority.secondRoot
    self.apps = apps
    self.poster = poster
    let entries = try journal.entries()
    let begins = entries.isEmpty ? start : nil
    if let begins { clock.restore(SandboxClock.Setting(sandbox: begins, machine: now(), speed: 1)) }
    var (world, history) = Self.replay(entries, apps: apps, clock: clock)
    // A process that was killed during an advance did not record the clock, and the machine's clock may have gone back.
    let isBehind = clock.now() < world.now
    if isBehind { clock.set(to: world.now) }
    var first: [Journal.Entry] = [.opened]
    if begins != nil || isBehind { first.append(.clock(clock.setting)) }
    world.skipNumbers(Self.numbersPerProcess)
    if entries.isEmpty {
      if let origin {
        first.append(.origin(origin))
        world.begin(at: origin)
      }
      first += Self.perform(settings, in: &world)
    }
    for entry in first {
      journal.record(entry, at: world.now)
      history.append(entry, at: world.now, notifications: world.notifications.count)
    }
    let speed = clock.setting.speed
    try journal.begin(World.tables) { World.fixedRows + world.changedRows(speed: speed) }
    world.clearChanges()
    self.world = world
    self.journal = journal
    self.history = history
  }

  /// An upper bound for the ids that a process can issue and lose in a crash.
  private static let numbersPerProcess: Int64 = 1_000_000

  /// Rebuilds the world by performing the journal's entries again.
  static func replay(
    _ entries: [(at: Instant, entry: Journal.Entry)], apps: [SandboxApp], clock: SandboxClock
  ) -> (World, JournalHistory) {
    let start = entries.first?.at ?? clock.now()
    // The first transaction id is derived from the time, so that sandboxes created at different times issue
    // different ids. It has 16 digits and begins with 2, like the ids in Apple's sandbox.
    var world = World(
      apps: apps, start: start, firstNumber: 2_000_000_000_000_000 + max(0, start.millisecondsSince1970),
      seed: UInt64(bitPattern: start.millisecondsSince1970))
    var history = JournalHistory()
    for (at, entry) in entries {
      world.advance(to: at)
      var portable = JSONObject()
      switch entry {
      case .opened: world.skipNumbers(numbersPerProcess)
      case .origin(let origin): world.begin(at: origin)
      case .clock(let setting): clock.restore(setting)
      // An action that is rejected now was rejected then, unless the catalog has changed.
      case .action(let action, let json):
        portable = world.portableMembers(of: action, json)
        _ = try? world.perform(action, Parameters(json))
      case .passed, .advancing: break
      // A snapshot comes from a client, so its indices are checked.
      case .attempt(let notification, let result, let next):
        guard world.notifications.indices.contains(notification) else { continue }
        world.recordAttempt(of: notification, result, next: next)
      case .postponed(let notification, let instant):
        guard world.notifications.indices.contains(notification) else { continue }
        world.postpone(notification, to: instant)
      }
      history.append(entry, at: at, notifications: world.notifications.count, portable: portable)
    }
    return (world, history)
  }

  /// Performs the settings of a new world; returns the entries of those that the world accepted.
  static func perform(_ settings: [PresetAction], in world: inout World) -> [Journal.Entry] {
    settings.compactMap { preset in
      guard (try? world.perform(preset.action, Parameters(preset.members))) != nil else { return nil }
      return .action(preset.action, preset.members)
    }
  }

  /// Sets the base URL, such as `http://127.0.0.1:8090`. The certificates name it as their OCSP responder; certificates
  /// with another URL are issued again. A listener calls it once it is bound, because a port of 0 is chosen then.
  package func setBaseURL(_ baseURL: String) throws(SandboxError) {
    authority = try SandboxAuthority(
      directory: files, now: clock.machineNow(), responder: baseURL + Self.responderPath)
  }

  /// Replaces a certificate of the chain and those below it; documents are signed with the new ones from now on.
  ///
  /// - revoking: whether OCSP reports the replaced certificate as revoked from now on.
  func rotate(_ certificate: SandboxCertificate, revoking: Bool) throws(SandboxError) {
    authority = try SandboxAuthority.rotate(
      certificate, revoking: revoking, in: files, now: clock.machineNow())
  }

  // MARK: Actions

  /// Performs an action and persists it, then wakes the delivery of notifications.
  ///
  /// - Throws: ``SandboxError/actionFailed(_:)`` with nothing changed; an error of the journal, after which the action
  ///   is in memory and the next call writes it first.
  func perform(_ action: Action, _ parameters: Parameters) throws(SandboxError) -> Outcome {
    advanceToNow()
    // While the journal cannot be written, no further action is performed.
    if journal.hasUnwrittenEntries { try persist() }
    let outcome = try execute(action, parameters)
    try persist()
    wake()
    return outcome
  }

  /// Performs an action and records it; ``persist()`` must follow.
  func execute(_ action: Action, _ parameters: Parameters) throws(SandboxError) -> Outcome {
    advanceToNow()
    let portable = world.portableMembers(of: action, parameters.json)
    let outcome: Outcome
    do { outcome = try world.perform(action, parameters) } catch { throw .actionFailed(error) }
    record(.action(action, parameters.json), portable: portable)
    return outcome
  }

  /// Advances the world to the current time before it is read. An advance with effects is recorded, so that a
  /// restart reproduces it. A failed write is reported by the next action.
  func catchUp() {
    advanceToNow()
    if journal.hasUnwrittenEntries { try? persist() }
  }

  /// Advances the world; only an advance with effects becomes an entry of the journal.
  private func advanceToNow() {
    let now = clock.now()
    let isEventful = world.nextChange.map { $0 <= now } ?? false
    world.advance(to: now)
    if isEventful { record(.passed) }
  }

  /// Replaces the world, its journal and everything that is not persisted. Nothing has changed if an error is thrown.
  func replace(
    _ world: World, _ history: JournalHistory, lines: [JournalLine], at time: Instant, speed: Int64
  ) throws(SandboxError) {
    try journal.replace(with: lines, World.tables) { World.fixedRows + world.changedRows(speed: speed) }
    clock.restart(at: time, speed: speed)
    self.world = world
    self.world.clearChanges()
    self.history = history
    (deliveryLog, performanceTests) = (DeliveryLog(), [:])
    generation += 1
    wake()
  }

  /// Records an entry; ``persist()`` must follow. `portable` has the members of an action as another sandbox takes them.
  func record(_ entry: Journal.Entry, portable: JSONObject = [:]) {
    journal.record(entry, at: world.now)
    history.append(entry, at: world.now, notifications: world.notifications.count, portable: portable)
  }

  /// Records an entry and writes it at once.
  func persist(_ entry: Journal.Entry) throws(SandboxError) {
    record(entry)
    try persist()
  }

  /// Writes the recorded entries and the changed table rows.
  func persist() throws(SandboxError) {
    let speed = clock.setting.speed
    try journal.flush { world.changedRows(speed: speed) }
    world.clearChanges()
  }

  // MARK: Sleep

  /// Sleeps until the time has passed or ``wake()`` is called.
  func pause(milliseconds: Int64) async {
    let task = Task<Void, Never> { try? await Task.sleep(for: .milliseconds(milliseconds)) }
    sleeper = task
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    sleeper = nil
  }

  /// Ends the current sleep, because an earlier event was scheduled.
  func wake() { sleeper?.cancel() }

  // MARK: Signatures

  /// Returns the JWS of a transaction, signed now.
  func sign(_ sold: SoldTransaction) throws(CryptographyError) -> String {
    try authority.signer.sign(payload: world.presentPayload(of: sold))
  }

  /// Returns the JWS of a subscription's renewal info, signed now.
  func sign(_ line: SubscriptionLine) throws(CryptographyError) -> String {
    try authority.signer.sign(payload: world.presentPayload(of: line))
  }

  /// Returns the signed payload of a version 2 notification.
  func signedPayload(of notification: SandboxNotification) throws(CryptographyError) -> String {
    try NotificationSigner(world: world, signer: authority.signer).signed(notification)
  }

  /// The writer of version 1 documents as of now.
  func legacyDocument(of app: SandboxApp) -> LegacyDocument {
    LegacyDocument(world: world, app: app, receipts: receiptDocument)
  }

  /// The writer of receipts as of now.
  var receiptDocument: ReceiptDocument {
    ReceiptDocument(world: world, signer: authority.receiptSigner, date: world.now)
  }
}
