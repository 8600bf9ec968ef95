package import AppStore
internal import JSON
package import SignedData

/// An App Store on this machine: it sells, renews, refunds and notifies, and signs like Apple.
///
/// What it signs verifies for whoever trusts its ``root``, and only for the environment `Sandbox`. What happens is
/// decided by ``World``; the simulator gives it time, remembers what was done in a journal, and signs and sends what
/// it has to tell. Where its home outlasts a restart, so does everything.
package actor AppStoreSimulator {
  /// The certificate to trust.
  package nonisolated let root: Certificate
  /// What it sells.
  package nonisolated let apps: [SandboxApp]
  /// Its time, which can be turned forward.
  package nonisolated let clock: SandboxClock

  private(set) var authority: SandboxAuthority
  private let files: any StateFiles
  let poster: (any NotificationPoster)?
  var journal: Journal
  var world: World
  var faults = Faults()
  var traffic = ServerAPITraffic()
  /// Made when it is first asked for.
  var foreignSigner: JWSSigner?
  /// By their identifiers. They are forgotten with the process, as Apple forgets them after a while.
  var performanceTests: [String: PerformanceTest] = [:]
  /// The sending of notifications that is going on.
  var delivery: Task<Void, Never>?
  private var sleeper: Task<Void, Never>?

  /// Opens the App Store whose state is in `home`. `now` is the machine's time; `poster` sends notifications while
  /// ``run()`` runs, and without one none is sent. A world that begins now begins at `start`, so that there is a past
  /// to live through until today.
  package init(
    apps: [SandboxApp], storage: SandboxStorage, now: @escaping @Sendable () -> Instant,
    start: Instant? = nil, poster: (any NotificationPoster)? = nil
  ) throws(SandboxError) {
    files = home.files
    authority = try SandboxAuthority(directory: files, now: now())
    var journal = try Journal(home)
    clock = SandboxClock(machine: now)
    root = authority.root
    self.apps = apps
    self.poster = poster
    let entries = try journal.entries()
    let begins = entries.isEmpty ? start : nil
    if let begins { clock.restore(SandboxClock.Setting(sandbox: begins, machine: now(), speed: 1)) }
    var world = Self.replay(entries, apps: apps, clock: clock)
    journal.record(.opened, at: world.now)
    if begins != nil { journal.record(.clock(clock.setting), at: world.now) }
    world.skipNumbers(Self.numbersPerProcess)
    let speed = clock.setting.speed
    try journal.begin(World.tables) { World.fixedRows + world.changedRows(speed: speed) }
    world.clearChanges()
    self.world = world
    self.journal = journal
  }

  /// More numbers than a process gives out between two moments at which the journal is safe.
  private static let numbersPerProcess: Int64 = 1_000_000

  /// Does again what the journal says.
  private static func replay(
    _ entries: [(at: Instant, entry: Journal.Entry)], apps: [SandboxApp], clock: SandboxClock
  ) -> World {
    let start = entries.first?.at ?? clock.now()
    // The very first number is made of the moment, so that sandboxes made at different moments do not give out
    // each other's: 2 and fifteen digits, as Apple's are.
    var world = World(
      apps: apps, start: start, firstNumber: 2_000_000_000_000_000 + max(0, start.millisecondsSince1970),
      seed: UInt64(bitPattern: start.millisecondsSince1970))
    for (at, entry) in entries {
      world.advance(to: at)
      switch entry {
      case .opened: world.skipNumbers(numbersPerProcess)
      case .clock(let setting): clock.restore(setting)
      // What is refused now was refused then, unless the catalog has changed since.
      case .action(let action, let json): _ = try? world.perform(action, Parameters(json))
      case .passed: break
      case .attempt(let notification, let result, let next): world.recordAttempt(of: notification, result, next: next)
      case .postponed(let notification, let instant): world.postpone(notification, to: instant)
      }
    }
    return world
  }

  /// Says where it can be reached, such as `http://127.0.0.1:8090`: its certificates name the place where they can
  /// be asked about, as Apple's do. Those that named another one are issued anew.
  package func setBaseURL(_ baseURL: String) throws(SandboxError) {
    authority = try SandboxAuthority(
      directory: files, now: clock.machineNow(), responder: baseURL + Self.responderPath)
  }

  // MARK: What is done

  /// Does what a tester asked for, and remembers it.
  func perform(_ action: Action, _ parameters: Parameters) throws(SandboxError) -> Outcome {
    advanceToNow()
    // As long as nothing can be remembered nothing new is done.
    if journal.hasUnwrittenEntries { try persist() }
    let outcome = try execute(action, parameters)
    try persist()
    wake()
    return outcome
  }

  /// Does what was asked for, and notes it: it is remembered with what follows.
  func execute(_ action: Action, _ parameters: Parameters) throws(SandboxError) -> Outcome {
    advanceToNow()
    let outcome: Outcome
    do { outcome = try world.perform(action, parameters) } catch { throw .actionFailed(error) }
    journal.record(.action(action, parameters.json), at: world.now)
    return outcome
  }

  /// Lets everything happen that the clock says is past, for somebody who is to see it. That it was seen is
  /// remembered, so that it is the same after a restart; if it cannot be, the next who does something is told.
  func catchUp() {
    advanceToNow()
    if journal.hasUnwrittenEntries { try? persist() }
  }

  private func advanceToNow() {
    let now = clock.now()
    let isEventful = world.nextChange.map { $0 <= now } ?? false
    world.advance(to: now)
    if isEventful { journal.record(.passed, at: world.now) }
  }

  func persist(_ entry: Journal.Entry) throws(SandboxError) {
    journal.record(entry, at: world.now)
    try persist()
  }

  /// Writes down what was noted, and what the world is now.
  func persist() throws(SandboxError) {
    let speed = clock.setting.speed
    try journal.flush { world.changedRows(speed: speed) }
    world.clearChanges()
  }

  // MARK: Waiting

  /// Waits, but not after ``wake()``.
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

  /// Something is to be done earlier than it was when the wait began.
  func wake() { sleeper?.cancel() }

  // MARK: What is signed

  func sign(_ sold: SoldTransaction) throws(CryptographyError) -> String {
    try authority.signer.sign(payload: world.payload(of: sold, signed: world.now))
  }

  func sign(_ line: SubscriptionLine) throws(CryptographyError) -> String {
    try authority.signer.sign(payload: world.payload(of: line, signed: world.now))
  }

  func signedPayload(of notification: SandboxNotification) throws(CryptographyError) -> String {
    try NotificationSigner(world: world, signer: authority.signer).signed(notification)
  }

  func legacyDocument(of app: SandboxApp) -> LegacyDocument {
    LegacyDocument(world: world, app: app, receipts: receiptDocument)
  }

  var receiptDocument: ReceiptDocument {
    ReceiptDocument(world: world, signer: authority.receiptSigner, date: world.now)
  }
}
