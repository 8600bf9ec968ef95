internal import AppStore
internal import JSON

/// The members that Apple requires in Advanced Commerce requests (the request objects of its libraries).
enum CommerceValidation {
  /// In thousandths. The sum of all items is a price too, which must be a number.
  private static let prices: ClosedRange<Int64> = 0...1_000_000_000
  private static let maxItems = 1_000

  /// Checks the members that a request requires.
  ///
  /// - Throws: ``ServerAPIError/generalBadRequest``.
  static func check(_ request: World.CommerceRequest, _ body: JSONObject) throws(ServerAPIError) {
    let items = body["items"]?.arrayValue?.map { $0.objectValue ?? [:] } ?? []
    let isValid: Bool =
      switch request {
      case .cancel: true
      case .revoke:
        hasRefund(body) && body["refundRiskingPreference"]?.boolValue != nil
      case .requestRefund:
        !items.isEmpty && body["refundRiskingPreference"]?.boolValue != nil
          && items.allSatisfy { hasText($0, "SKU") && hasRefund($0) && $0["revoke"]?.boolValue != nil }
      case .changePrice:
        (1...maxItems).contains(items.count)
          && items.allSatisfy { hasText($0, "SKU") && prices.contains($0["price"]?.int64Value ?? -1) }
      case .changeMetadata:
        items.allSatisfy { hasText($0, "currentSKU") && isEffective($0) }
          && (body["descriptors"]?.objectValue.map(isEffective) ?? true)
          && (!items.isEmpty || body["descriptors"] != nil || body["taxCode"] != nil)
      case .migrate:
        !items.isEmpty && items.allSatisfy { isDescribed($0) && hasText($0, "SKU") }
          && body["descriptors"]?.objectValue.map(isDescribed) ?? false
          && hasText(body, "targetProductId") && hasText(body, "taxCode")
      }
    guard isValid else { throw .generalBadRequest }
  }

  /// Whether the member is a text that is not empty.
  private static func hasText(_ object: JSONObject, _ name: String) -> Bool {
    object[name]?.stringValue?.isEmpty == false
  }

  /// Whether it has Apple's `Descriptors`.
  private static func isDescribed(_ object: JSONObject) -> Bool {
    hasText(object, "description") && hasText(object, "displayName")
  }

  /// Whether it has a known `effective`.
  private static func isEffective(_ object: JSONObject) -> Bool {
    ["IMMEDIATELY", "NEXT_BILL_CYCLE"].contains(object["effective"]?.stringValue)
  }

  /// Whether it has a known reason and type of a refund, and an amount if the type needs one.
  private static func hasRefund(_ object: JSONObject) -> Bool {
    guard let reason = object["refundReason"]?.stringValue, let type = object["refundType"]?.stringValue,
      AdvancedCommerceRefundReason.known.contains(where: { $0.rawValue == reason }),
      AdvancedCommerceRefundType.known.contains(where: { $0.rawValue == type })
    else { return false }
    return type != AdvancedCommerceRefundType.custom.rawValue || object["refundAmount"]?.int64Value ?? 0 > 0
  }
}

/// The rules of external purchase reports (External Purchase Server API: ExternalPurchaseReport and its errors).
enum ExternalReportValidation {
  private static let statuses = ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]

  /// Checks a report of `token`, which is `nil` if the sandbox did not make it.
  ///
  /// - Throws: the error that Apple has for the first violated rule.
  static func check(_ report: JSONObject, of token: ExternalToken?) throws(ServerAPIError) {
    guard report["externalPurchaseId"]?.stringValue?.isEmpty == false,
      let status = report["status"]?.stringValue, statuses.contains(status)
    else { throw .generalBadRequest }
    let items = report["lineItems"]?.arrayValue ?? []
    switch status {
    case "LINE_ITEM":
      guard !items.isEmpty else { throw .missingLineItemsForStatus }
    case "DUPLICATE_TOKEN" where token?.kind?.isAnnounced == false || token != nil && token?.kind == nil:
      throw .duplicateTokenStatusNotAllowed
    default:
      guard items.isEmpty else { throw .lineItemsNotAllowedForStatus }
    }
    var ids = Set<String>()
    for item in items {
      guard let item = item.objectValue, isLineItem(item), let id = item["lineItemId"]?.stringValue else {
        throw .generalBadRequest
      }
      guard ids.insert(id).inserted else { throw .duplicateValue }
    }
  }

  private static let amounts = [
    "amountTaxExclusive", "amountTaxInclusive", "netAmountTaxExclusive", "taxAmount",
  ]

  /// Whether the members that its event and product type require are present.
  private static func isLineItem(_ item: JSONObject) -> Bool {
    func hasText(_ name: String) -> Bool { item[name]?.stringValue?.isEmpty == false }
    func hasNumber(_ name: String) -> Bool { item[name]?.int64Value != nil }
    guard hasText("lineItemId"), hasNumber("creationDate"), hasText("reportingCurrency"),
      amounts.allSatisfy(hasNumber)
    else { return false }
    switch item["eventType"]?.stringValue {
    case "REFUND": return hasText("referenceLineItemId")
    case "BUY": break
    default: return false
    }
    guard hasText("productIdentifier"), hasNumber("quantity"), hasText("taxCountry"),
      hasText("pricingCurrency")
    else { return false }
    switch item["productType"]?.stringValue {
    case "ONE_TIME_BUY": return true
    case "SUBSCRIPTION":
      return hasText("subscriptionEvent") && hasNumber("subscriptionStartDate")
        && hasNumber("subscriptionEndDate")
    default: return false
    }
  }
}
