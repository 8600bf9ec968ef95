internal import AppStore
internal import JSON

/// The delivery of an app's notifications.
struct DeliverySettings: Hashable, Sendable {
  /// The environment whose retries, history and version 1 types apply.
  var rules = EnvironmentRules.sandbox
  /// `nil` sends each notification at once.
  var delays: DeliveryDelays?
  /// Whether version 1 announces an upgrade by `CANCEL` and `INTERACTIVE_RENEWAL`, as WWDC19-302 shows, instead of the
  /// types in Apple's present table.
  var announcesUpgradesByCancel = false
}

/// The rules of notifications that differ between Apple's environments. Documents are for `Sandbox` with both.
enum EnvironmentRules: String, Hashable, Sendable, CaseIterable {
  /// No retries, and a history of 30 days.
  case sandbox = "SANDBOX"
  /// Retries for days, and a history of 180 days.
  case production = "PRODUCTION"

  /// Returns the hours from each attempt to the next one (Apple: "Responding to App Store Server Notifications":
  /// "Retry notifications are available only in the production environment").
  func retryHours(version: Int64) -> [Int64] {
    switch self {
    case .sandbox: []
    case .production: version == 1 ? [6, 24, 48] : [1, 12, 24, 48, 72]
    }
  }

  /// The range of the notification history (Apple: NotificationHistoryRequest).
  var historyDays: Int64 {
    switch self {
    case .sandbox: 30
    case .production: 180
    }
  }

  /// Whether Apple sends this version 1 type to an account of this kind (Apple: notification_type, "Receive
  /// notifications for the purchaser and family members").
  func sends(_ type: NotificationTypeV1, to ownership: InAppOwnershipType) -> Bool {
    switch self {
    case .sandbox: Self.sandboxTypes.contains(type) && ownership == .purchased
    case .production: ownership == .purchased || Self.memberTypes.contains(type)
    }
  }

  private static let sandboxTypes: Set<NotificationTypeV1> = [
    .initialBuy, .didChangeRenewalPref, .didChangeRenewalStatus, .didRenew, .interactiveRenewal, .cancel,
    .refund,
  ]

  private static let memberTypes: Set<NotificationTypeV1> = [
    .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRecover, .didRenew,
    .interactiveRenewal, .revoke,
  ]
}

/// A seeded distribution of the time between an event and its notification.
///
/// Apple publishes no figures. Developers report seconds as a rule, more than an hour at times, and notifications
/// that never came.
struct DeliveryDelays: Hashable, Sendable {
  /// The fate of one notification.
  enum Fate: Hashable {
    /// It arrives later.
    case after(milliseconds: Int64)
    /// It never arrives; only the notification history has it.
    case lost
  }

  var seed: UInt64 = 1
  /// The notifications per thousand that arrive after 10 to 70 minutes.
  var late: Int64 = 20
  /// The notifications per thousand that never arrive.
  var lost: Int64 = 2

  /// Returns the fate of the notification with this index. The other notifications arrive within a minute, half of
  /// them within about 20 seconds.
  func fate(of index: Int) -> Fate {
    var random = SeededRandom(seed: seed &+ UInt64(truncatingIfNeeded: index) &* 0xD1B5_4A32_D192_ED03)
    let draw = Int64.random(in: 0..<1000, using: &random)
    if draw < lost { return .lost }
    if draw < lost + late { return .after(milliseconds: .random(in: 600_000...4_200_000, using: &random)) }
    let draws = (0..<2).map { _ in Int64.random(in: 500...60_000, using: &random) }
    return .after(milliseconds: min(draws[0], draws[1]))
  }
}

/// Typed access to the settings of the action `delivery`.
extension DeliverySettings {
  /// Changes the settings that the request names.
  mutating func change(_ parameters: Parameters) throws(ActionError) {
    if parameters.json["rules"] != nil {
      let name = try parameters.choice("rules", of: EnvironmentRules.allCases.map(\.rawValue))
      rules = EnvironmentRules(rawValue: name) ?? rules
    }
    if let isOn = try parameters.flagIfPresent("upgradesByCancel") { announcesUpgradesByCancel = isOn }
    let details = ["seed", "late", "lost"].filter { parameters.json[$0] != nil }
    let isDelayed = try parameters.flagIfPresent("delays") ?? (delays != nil)
    guard isDelayed else {
      if let detail = details.first { throw .notPossible("'\(detail)' requires delays=true") }
      delays = nil
      return
    }
    var changed = delays ?? DeliveryDelays()
    if let seed = try parameters.integerIfPresent("seed") { changed.seed = UInt64(bitPattern: seed) }
    if details.contains("late") { changed.late = try parameters.integer("late", in: 0...1000) }
    if details.contains("lost") { changed.lost = try parameters.integer("lost", in: 0...1000) }
    guard changed.late + changed.lost <= 1000 else {
      throw .wrongType(member: "late", expected: "at most 1000 together with lost")
    }
    delays = changed
  }
}
