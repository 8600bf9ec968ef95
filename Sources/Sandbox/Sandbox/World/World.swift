internal import AppStore
internal import JSON
internal import SignedData

/// The simulated App Store without a clock, a file or a socket: accounts, what they bought, and what Apple
/// would tell about it.
///
/// Time passes only in ``advance(to:)``. The same actions at the same moments after the same seed give the same
/// world, identifiers included.
struct World: Sendable {
  /// The moment up to which everything has happened.
  private(set) var now: Instant
  let apps: [SandboxApp]
  var scale: TimeScale
  /// What each app's developer set up.
  var settings = ChangeTrackedDictionary<String, AppSettings>()
  var accounts = ChangeTrackedDictionary<String, AppleAccount>()
  var transactions = ChangeTrackedDictionary<Int64, SoldTransaction>()
  /// Subscriptions by their first transaction.
  var lines = ChangeTrackedDictionary<Int64, SubscriptionLine>()
  /// An account's transactions in one app, in the order in which they came to be.
  var history: [Ownership: [Int64]] = [:]
  /// The line that an account has in a group by its own purchase.
  var ownLines: [GroupOwnership: Int64] = [:]
  /// Every notification there ever was, in order.
  var notifications = ChangeTrackedList<SandboxNotification>()
  /// The places in ``notifications`` of those that are still to be sent.
  var outbox: Set<Int> = []
  /// What developers told of customers who ask for refunds, in order.
  var consumptionReports = ChangeTrackedList<ConsumptionReport>()
  var massExtensions = ChangeTrackedList<MassExtension>()
  /// Purchases that wait for a parent's word.
  var askToBuyRequests = ChangeTrackedDictionary<String, AskToBuyRequest>()
  /// What developers reported of sales outside of the App Store.
  var externalReports = ChangeTrackedDictionary<ReportName, JSONObject>()

  /// Public keys of those who call the Server API or sign offers, in PEM, by key id.
  var keys = ChangeTrackedDictionary<String, String>()

  private var dueQueue = DueQueue()
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

  /// What a developer calls a report, its `requestIdentifier`.
  struct ReportName: Hashable, Sendable {
    let app: String
    let identifier: String
  }

  /// A world in which nothing was bought yet. Transactions are numbered from `firstNumber` on.
  init(apps: [SandboxApp], scale: TimeScale = .calendar, start: Instant, firstNumber: Int64, seed: UInt64) {
    self.apps = apps
    self.scale = scale
    now = start
    nextNumber = firstNumber
    random = SeededRandom(seed: seed)
    for app in apps { settings[app.id] = AppSettings() }
  }

  /// Passes over numbers that may have been given out without being remembered.
  mutating func skipNumbers(_ count: Int64) { nextNumber += count }

  mutating func makeNumber() -> Int64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  mutating func makeUUID() -> String { Nonce(using: &random).description }

  // MARK: Time

  /// When something will next happen by itself; `nil`: never.
  var nextChange: Instant? { dueQueue.first?.at }

  /// Lets time pass: everything that is due happens, in order and each at its moment. Never goes back.
  mutating func advance(to instant: Instant) {
    while let entry = dueQueue.first, entry.at <= instant {
      dueQueue.removeFirst()
      guard let line = lines[entry.line], line.due == entry.at, line.source == nil else { continue }
      now = max(now, entry.at)
      processDue(for: line)
    }
    now = max(now, instant)
  }

  /// Remembers a line as it is now. All changes of lines go through here, so that none is missed by the dueQueue.
  mutating func put(_ line: SubscriptionLine) {
    if let due = line.due, lines[line.id]?.due != due, line.source == nil { dueQueue.enter(line.id, at: due) }
    lines[line.id] = line
  }

  // MARK: Looking up

  func app(_ id: String) -> SandboxApp? { apps.first { $0.id == id } }

  func product(_ id: String, of app: String) -> SandboxProduct? {
    self.app(app)?.products.first { $0.productId == id }
  }

  /// An account's transactions in an app, the oldest first.
  func purchases(of account: String, in app: String) -> [SoldTransaction] {
    (history[Ownership(app: app, account: account)] ?? []).compactMap { transactions[$0] }
  }

  /// An account's subscriptions in an app, those shared with it included, the oldest first.
  func subscriptions(of account: String, in app: String) -> [SubscriptionLine] {
    purchases(of: account, in: app).compactMap { $0.isFirst ? lines[$0.id] : nil }
  }

  /// The latest transaction of a subscription.
  func current(of line: SubscriptionLine) -> SoldTransaction? { transactions[line.current] }
}

/// A purchase that a child asked for.
struct AskToBuyRequest: Hashable, Sendable {
  let order: PurchaseOrder
  let date: Instant
}
