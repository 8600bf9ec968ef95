internal import AppStore
internal import JSON

/// The body of Get Notification History (Apple: NotificationHistoryRequest).
struct NotificationHistoryQuery {
  /// Milliseconds since 1970.
  let start: Int64
  /// Milliseconds since 1970, exclusive.
  let end: Int64
  /// `nil` for all.
  let type: String?
  let subtype: String?
  /// Any transaction of the customer.
  let transactionID: String?
  /// Whether to return only notifications that no attempt has delivered.
  let onlyFailures: Bool

  /// Decodes and validates a body.
  ///
  /// - earliest: the earliest start date, in milliseconds since 1970.
  init(_ body: JSONObject, earliest: Int64) throws(ServerAPIError) {
    guard let start = body["startDate"]?.int64Value else { throw .invalidStartDate }
    guard let end = body["endDate"]?.int64Value else { throw .invalidEndDate }
    guard start >= earliest else { throw .startDateTooFarInPast }
    guard start < end else { throw .startDateAfterEndDate }
    (self.start, self.end) = (start, end)
    // `originalTransactionId` is the deprecated name.
    transactionID = try Self.text(
      body["transactionId"] ?? body["originalTransactionId"], .invalidTransactionId)
    type = try Self.text(body["notificationType"], .invalidNotificationType)
    subtype = try Self.text(body["notificationSubtype"], .invalidNotificationType)
    guard transactionID == nil || type == nil else { throw .multipleFiltersSupplied }
    guard Self.isValid(type, subtype) else { throw .invalidNotificationType }
    onlyFailures = body["onlyFailures"]?.boolValue ?? false
  }

  /// A text; `nil` if absent or null.
  private static func text(_ value: JSONValue?, _ error: ServerAPIError) throws(ServerAPIError) -> String? {
    guard let value, !value.isNull else { return nil }
    guard let text = value.stringValue else { throw error }
    return text
  }

  /// Whether a notification matches; the customer is matched by the caller.
  func admits(_ notification: SandboxNotification) -> Bool {
    // The history has the version 2 notifications that the App Store attempted to send.
    guard notification.version == 2, !notification.attempts.isEmpty else { return false }
    return (start..<end).contains(notification.date.millisecondsSince1970)
      && (type == nil || notification.type.rawValue == type)
      && (subtype == nil || notification.subtype?.rawValue == subtype)
      && (!onlyFailures || !notification.attempts.contains { $0.result == .success })
  }

  /// Whether the type and subtype are a valid combination. A subtype requires its type.
  private static func isValid(_ type: String?, _ subtype: String?) -> Bool {
    guard let type else { return subtype == nil }
    guard let type = NotificationTypeV2.known.first(where: { $0.rawValue == type }) else { return false }
    return subtype.map { subtypes(of: type).map(\.rawValue).contains($0) } ?? true
  }

  /// The subtypes of a type (Apple: notificationType and subtype, notifications 2.23).
  private static func subtypes(of type: NotificationTypeV2) -> [NotificationSubtype] {
    switch type {
    case .subscribed: [.initialBuy, .resubscribe]
    case .didChangeRenewalPref: [.upgrade, .downgrade, .increaseQuantity, .decreaseQuantity]
    case .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled]
    // Until 2024 offers of new and returning subscribers had this type, too.
    case .offerRedeemed: [.upgrade, .downgrade, .initialBuy, .resubscribe]
    case .didRenew: [.billingRecovery]
    case .didFailToRenew: [.gracePeriod]
    case .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale]
    case .priceIncrease: [.pending, .accepted]
    case .refund: [.seats]
    case .renewalExtension: [.summary, .failure]
    case .externalPurchaseToken: [.created, .activeTokenReminder, .unreported]
    default: []
    }
  }
}

/// A position in the notification history of one request: `p_INDEX_ISSUED_REQUEST`.
struct HistoryPageToken {
  /// The index of the last notification of the previous page.
  let index: Int
  /// Machine time, in milliseconds since 1970.
  let issued: Int64
  /// Identifies the request's body.
  let request: UInt64

  /// Apple documents that tokens expire, but not when.
  private static let lifetime: Int64 = 24 * 3_600_000

  /// A token for the page after the notification with this index.
  init(index: Int, issued: Instant, body: JSONObject) {
    self.index = index
    self.issued = issued.millisecondsSince1970
    request = Self.identifier(of: body)
  }

  /// Decodes a token for a request with the given body (Apple: InvalidPaginationTokenError, PaginationTokenExpiredError;
  /// "use the same NotificationHistoryRequest body").
  init(_ text: String, body: JSONObject, at now: Instant) throws(ServerAPIError) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "p", let index = Int(parts[1]), let issued = Int64(parts[2]),
      let request = UInt64(parts[3], radix: 16), request == Self.identifier(of: body)
    else { throw .invalidPaginationToken }
    let age = now.milliseconds(since: Instant(millisecondsSince1970: issued))
    guard age <= Self.lifetime else { throw .paginationTokenExpired }
    (self.index, self.issued, self.request) = (index, issued, request)
  }

  var text: String { "p_\(index)_\(issued)_\(String(request, radix: 16))" }

  /// The FNV-1a hash of the members in alphabetical order.
  private static func identifier(of body: JSONObject) -> UInt64 {
    let members = body.filter { !$0.value.isNull }.sorted { $0.name < $1.name }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in JSONObject(members.map { ($0.name, $0.value) }).serialized() {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return hash
  }
}
