internal import AppStore
internal import JSON
internal import SignedData

/// The rules of the simulated App Store as a value, without clock, files and network.
///
/// Time passes only in ``advance(to:)``. The same actions at the same times with the same seed give the same world,
/// including all identifiers, so that a journal can be replayed.
struct World: Sendable {
  /// The time up to which everything has been processed.
  private(set) var now: Instant
  let apps: [SandboxApp]
  /// The length of periods for accounts that have no renewal rate set.
  var scale = TimeScale.calendar
  var timing = RenewalTiming()
  /// Of all random choices.
  let seed: UInt64
  /// By app id.
  var settings = ChangeTrackedDictionary<String, AppSettings>()
  /// By name.
  var accounts = ChangeTrackedDictionary<String, AppleAccount>()
  /// By transaction id, those of members included.
  var transactions = ChangeTrackedDictionary<Int64, SoldTransaction>()
  /// The ids of restored copies.
  var restored = ChangeTrackedDictionary<Int64, RestoredTransaction>()
  /// Subscriptions by original transaction id.
  var lines = ChangeTrackedDictionary<Int64, SubscriptionLine>()
  /// The transaction ids of an account in an app, in order of creation.
  var history: [Ownership: [Int64]] = [:]
  /// The original transaction id of an account's own purchase in a subscription group.
  var ownLines: [GroupOwnership: Int64] = [:]
  /// The changes of purchasers' subscriptions, in the order in which they happened.
  var records: [SubscriptionRecord] = []
  /// All notifications, in order.
  var notifications = ChangeTrackedList<SandboxNotification>()
  /// The undelivered ``notifications``.
  var outbox = Outbox()
  /// The consumption information of developers, in order.
  var consumptionReports = ChangeTrackedList<ConsumptionReport>()
  /// In the order of the requests.
  var massExtensions = ChangeTrackedList<MassExtension>()
  /// The indices of ``massExtensions`` that are not completed.
  var pendingMassExtensions: [Int] = []
  /// Purchases that wait for a parent's approval, by the UUID of the request.
  var askToBuyRequests = ChangeTrackedDictionary<String, AskToBuyRequest>()
  /// The external purchase reports of developers.
  var externalReports = ChangeTrackedDictionary<ReportName, JSONObject>()

  /// The bits of DeviceCheck, by the name of the device.
  var deviceBits: [String: StoredDeviceBits] = [:]
  /// The external purchase tokens, by id.
  var externalTokens = ChangeTrackedDictionary<String, ExternalToken>()

  /// Whether Server API tokens need the claim `iat` and the header `typ`, which Apple documents as required.
  var requiresDocumentedTokens = false
  /// The PEM public keys for Server API tokens and offer signatures, by key id.
  var keys = ChangeTrackedDictionary<String, String>()
  /// The ids of keys that the developer revoked: tokens of these are rejected, also while no key is registered.
  var revokedKeys: Set<String> = []

  /// The dates of the latest documents about each purchase.
  var signingDates = SigningDates()
  private var dueQueue = DueQueue()
  private var tokenQueue = TokenQueue()
  private var nextNumber: Int64
  private var random: SeededRandom

  /// An account in one app.
  struct Ownership: Hashable, Sendable {
    let app: String
    let account: String
  }

  /// An account in one subscription group.
  struct GroupOwnership: Hashable, Sendable {
    let app: String
    let account: String
    let group: String
  }

  /// A report's `requestIdentifier`.
  struct ReportName: Hashable, Sendable {
    let app: String
    let identifier: String
  }

  /// Creates an empty world whose transaction ids start at `firstNumber`.
  init(apps: [SandboxApp], start: Instant, firstNumber: Int64, seed: UInt64) {
    self.apps = apps
    now = start
    nextNumber = firstNumber
    self.seed = seed
    random = SeededRandom(seed: seed)
    for app in apps { settings[app.id] = AppSettings() }
  }

  /// Skips ids that an earlier process may have issued without persisting them.
  mutating func skipNumbers(_ count: Int64) { nextNumber += count }

  /// Issues ids and UUIDs of an origin from now on.
  mutating func begin(at origin: WorldOrigin) {
    nextNumber = max(nextNumber, origin.firstNumber)
    random = SeededRandom(seed: origin.seed)
  }

  /// Issues the next transaction or line item id. An id is never issued twice, also after a crash
  /// (``skipNumbers(_:)``).
  mutating func makeNumber() -> Int64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// Issues the next UUID of the seeded generator.
  mutating func makeUUID() -> String { Nonce(using: &random).description }

  // MARK: Time

  /// The time of the next change; `nil` if none is scheduled.
  var nextChange: Instant? {
    let massExtension = pendingMassExtensions.map { massExtensions[$0].due }.min()
    return [dueQueue.first?.at, tokenQueue.first?.at, massExtension].compactMap(\.self).min()
  }

  /// Advances the time and processes due changes in order, each at its own time. An earlier instant has no
  /// effect.
  mutating func advance(to instant: Instant) {
    while let next = nextChange, next <= instant {
      guard let entry = dueQueue.first, entry.at == next else {
        processOther(at: next)
        continue
      }
      dueQueue.removeFirst()
      guard let line = lines[entry.line], line.due == entry.at, isScheduled(line) else { continue }
      now = max(now, entry.at)
      processDue(for: line)
    }
    now = max(now, instant)
  }

  /// Processes a change that is not of a subscription.
  private mutating func processOther(at instant: Instant) {
    guard let entry = tokenQueue.first, entry.at == instant else {
      now = max(now, instant)
      return completeMassExtensions(dueAt: instant)
    }
    tokenQueue.removeFirst()
    guard externalTokens[entry.token]?.due == entry.at else { return }
    now = max(now, instant)
    processDue(for: entry.token)
  }

  /// Schedules the next notification about an external purchase token.
  mutating func scheduleToken(_ id: String, at instant: Instant) { tokenQueue.enter(id, at: instant) }

  /// Stores a subscription. Every change must pass here, so that ``dueQueue`` stays complete and the reports of the
  /// past have a record of each status.
  mutating func put(_ line: SubscriptionLine) {
    let known = lines[line.id]
    // A change at its due time has left the queue, and can be followed by another one at the same time.
    if let due = line.due, isScheduled(line),
      known?.due != due || due <= now || known.map(isScheduled) != true
    {
      dueQueue.enter(line.id, at: due)
    }
    record(line, after: known)
    lines[line.id] = line
  }

  /// Whether time changes the subscription by itself. Members follow the purchaser until they leave.
  func isScheduled(_ line: SubscriptionLine) -> Bool { line.source == nil || line.leavesAtEnd }

  // MARK: Lookup

  /// The app with an id of the configuration.
  func app(_ id: String) -> SandboxApp? { apps.first { $0.id == id } }

  /// A product of an app; `nil` if the catalog does not have it any more.
  func product(_ id: String, of app: String) -> SandboxProduct? {
    self.app(app)?.products.first { $0.productId == id }
  }

  /// Returns the transactions of an account in an app, oldest first.
  func purchases(of account: String, in app: String) -> [SoldTransaction] {
    (history[Ownership(app: app, account: account)] ?? []).compactMap { transactions[$0] }
  }

  /// Returns the subscriptions of an account in an app, including shared ones, oldest first.
  func subscriptions(of account: String, in app: String) -> [SubscriptionLine] {
    purchases(of: account, in: app).compactMap { $0.isFirst ? lines[$0.id] : nil }
  }

  /// Returns the latest transaction of a subscription.
  func current(of line: SubscriptionLine) -> SoldTransaction? { transactions[line.current] }
}

/// A purchase that a child requested. It can be answered for 24 hours.
struct AskToBuyRequest: Hashable, Sendable {
  let order: PurchaseOrder
  let date: Instant
}

/// A deterministic random number generator (SplitMix64).
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Equal seeds give equal numbers.
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
