import AppStore
import Foundation
import JSON
import TestSupport
import Testing

@testable import AppStoreClient

/// The calls that Apple's own library makes: method, URL, query and body.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct PublishedRequestTests {
  private static let extensionID = "fdf964a4-233b-486c-aac1-97d8d52688ac"
  private static let uuid = "a1b2c3d4-e5f6-7890-a1b2-c3d4e5f67890"

  private static let historyFilter: TransactionHistoryFilter = {
    var filter = TransactionHistoryFilter()
    filter.startDate = Instant(millisecondsSince1970: 123_455)
    filter.endDate = Instant(millisecondsSince1970: 123_456)
    filter.productIds = ["com.example.1", "com.example.2"]
    filter.productTypes = [.consumable, .autoRenewable]
    filter.sort = .ascending
    filter.subscriptionGroupIdentifiers = ["sub_group_id", "sub_group_id_2"]
    filter.inAppOwnershipType = .familyShared
    filter.revoked = false
    return filter
  }()

  private static let notificationFilter: NotificationHistoryFilter = {
    var filter = NotificationHistoryFilter(
      startDate: Instant(millisecondsSince1970: 1_698_148_900_000),
      endDate: Instant(millisecondsSince1970: 1_698_148_950_000))
    filter.notificationType = .subscribed
    filter.notificationSubtype = .initialBuy
    filter.transactionId = "999733843"
    filter.onlyFailures = true
    return filter
  }()

  private static let history = AppStoreRequest.transactionHistory(
    of: "1234", filter: historyFilter, revision: "revision_input")

  /// The call that we make where Apple's library's test makes its own.
  private func request(_ test: String, body: JSONObject?) throws -> AppStoreRequest {
    switch test {
    case "extend_renewal_date_for_all_active_subscribers":
      return .massExtendRenewalDate(
        ofProduct: "com.example.productId", byDays: 45, reason: .customerSatisfaction,
        requestIdentifier: Self.extensionID, storefrontCountryCodes: ["USA", "MEX"])
    case "extend_subscription_renewal_date":
      return .extendRenewalDate(
        of: "4124214", byDays: 45, reason: .customerSatisfaction, requestIdentifier: Self.extensionID)
    case "get_all_subscription_statuses":
      return .subscriptionStatuses(of: "4321", statuses: [.expired, .active])
    case "get_refund_history": return .refundHistory(of: "555555", revision: "revision_input")
    case "get_status_of_subscription_renewal_date_extensions":
      // The library's own test names the two the wrong way round. Apple's path has the product first.
      return .massExtensionStatus(
        ofProduct: "20fba8a0-2b80-4a7d-a17f-85c1854727f8", requestIdentifier: "com.example.product")
    case "get_test_notification_status":
      return .testNotificationStatus(token: "8cd2974c-f905-492a-bf9a-b2f47c791d19")
    case "get_notification_history":
      return .notificationHistory(
        Self.notificationFilter, paginationToken: "a036bc0e-52b8-4bee-82fc-8c24cb6715d6")
    case "get_transaction_history_v2", "get_transaction_history_with_unknown_environment":
      return Self.history
    case "get_transaction_info": return .transactionInfo("1234")
    case "look_up_order_id": return .lookUpOrder("W002182")
    case "request_test_notification", "api_error", "api_too_many_requests", "unknown_error":
      return .testNotification
    case "send_consumption_data":
      return .sendConsumptionInformationV1(try #require(body), of: "49571273")
    case "send_consumption_information":
      return .sendConsumptionInformation(
        ConsumptionRequest(
          customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false,
          consumptionPercentage: 50_000, refundPreference: .grantFull), of: "49571273")
    case "set_app_account_token", "invalid_app_account_token_error":
      return .setAppAccountToken("7389a31a-fb6d-4569-a2a6-db7d85d84813", of: "49571273")
    case "family_transaction_not_supported_error", "transaction_id_not_original_transaction_id_error":
      return .setAppAccountToken("7389a31a-fb6d-4569-a2a6-db7d85d84813", of: "1234")
    case "get_app_transaction_info_success": return .appTransactionInfo(of: "1234")
    case "get_app_transaction_info_invalid_transaction_id": return .appTransactionInfo(of: "invalid_id")
    case "get_app_transaction_info_app_transaction_does_not_exist":
      return .appTransactionInfo(of: "nonexistent_id")
    case "get_app_transaction_info_transaction_id_not_found":
      return .appTransactionInfo(of: "not_found_id")
    case "finish_transaction": return .finishTransaction("1234")
    default: return try messagingRequest(test, body: body)
    }
  }

  private func messagingRequest(_ test: String, body: JSONObject?) throws -> AppStoreRequest {
    switch test {
    case "upload_image": return .uploadImage([1, 2, 3], identifier: Self.uuid)
    case "upload_image_with_image_size":
      return .uploadImage([1, 2, 3], identifier: Self.uuid, size: .fullSize)
    case "delete_image": return .deleteImage(Self.uuid)
    case "get_image_list": return .imageList
    case "upload_message", "upload_message_with_image", "upload_message_with_bullet_points":
      return .uploadMessage(try #require(body), identifier: Self.uuid)
    case "delete_message": return .deleteMessage(Self.uuid)
    case "get_message_list": return .messageList
    case "configure_default_message":
      return .setDefaultMessage(Self.uuid, ofProduct: "com.example.product", locale: "en-US")
    case "delete_default_message":
      return .deleteDefaultMessage(ofProduct: "com.example.product", locale: "en-US")
    case "get_default_message": return .defaultMessage(ofProduct: "com.example.product", locale: "en-US")
    case "configure_realtime_url": return .setRealtimeURL("https://example.com/realtime")
    case "delete_realtime_url": return .deleteRealtimeURL
    case "get_realtime_url": return .realtimeURL
    case "initiate_performance_test": return .performanceTest(originalTransactionID: "70000500092808")
    case "get_performance_test_results":
      return .performanceTestResult(requestID: "c4b87a1d-2e3f-4a5b-9c6d-7e8f9a0b1c2d")
    default: throw Unknown(test: test)
    }
  }

  private struct Unknown: Error { let test: String }

  @Test("Each call is the one that Apple's library makes")
  func everyCall() throws {
    let cases = try #require(
      try JSONValue(parsing: TestData.bytes("api_client_expectations.json")).arrayValue)
    #expect(cases.count == 45)
    for value in cases {
      let expected = try #require(value.objectValue)
      // The first version of Get Transaction History is deprecated: the second one has all that it has.
      guard expected["url"]?.stringValue?.contains("/v1/history/") == false else { continue }
      let name = try #require(expected["test"]?.stringValue?.dropFirst("test_".count)).description
      let request = try request(name, body: expected["body"]?.objectValue)
      #expect(request.method.rawValue == expected["method"]?.stringValue, "\(name)")
      let url = try #require(expected["url"]?.stringValue)
      #expect("https://local-testing-base-url" + request.path == url, "\(name)")
      expect(request.query, toEqual: try #require(expected["params"]?.objectValue), name)
      if let body = expected["body"]?.objectValue {
        #expect(request.body == .json(body), "\(name)")
      }
    }
  }

  /// Python writes `False` where Apple documents `false`.
  private func expect(_ query: [AppStoreRequest.QueryItem], toEqual expected: JSONObject, _ name: String) {
    let ours = Dictionary(grouping: query, by: \.name).mapValues { $0.map { $0.value.lowercased() } }
    var theirs: [String: [String]] = [:]
    for member in expected {
      theirs[member.name] = member.value.arrayValue?.map {
        $0.stringValue?.lowercased() ?? $0.int64Value.map(String.init) ?? ""
      }
    }
    #expect(ours == theirs, "\(name)")
  }

  @Test("Every body that Apple publishes is read, each of its members by a property")
  func everyModel() throws {
    for (name, type) in models {
      let json = try #require(
        try JSONValue(parsing: TestData.bytes("apple-asl/models/\(name).json")).objectValue)
      let payload = try type.init(json: json)
      #expect(payload.json == json)
      #expect(propertiesWithValue(payload) == Set(json.map(\.name)), "\(name)")
    }
  }

  @Test("Every request that Apple publishes has the documented types, each of its members with one")
  func everyShape() throws {
    for (name, shape) in shapes {
      let file = "apple-asl/models/advancedCommerce\(name).json"
      let json = try #require(try JSONValue(parsing: TestData.bytes(file)).objectValue)
      try shape.check(json)
      #expect(Set(json.map(\.name)).isSubset(of: shape.names), "\(name)")
    }
  }

  @Test("An unknown environment decodes as none, and a malformed number is named in the error")
  func malformed() throws {
    let unknown = try #require(
      try JSONValue(
        parsing: TestData.bytes("apple-asl/models/transactionHistoryResponseWithMalformedEnvironment.json")
      ).objectValue)
    #expect(try HistoryResponse(json: unknown).environment == nil)
    let blue = try #require(
      try JSONValue(
        parsing: TestData.bytes("apple-asl/models/transactionHistoryResponseWithMalformedAppAppleId.json")
      ).objectValue)
    #expect(throws: PayloadError.wrongType(member: "appAppleId", expected: "an integer")) {
      try HistoryResponse(json: blue)
    }
  }

  private func propertiesWithValue(_ payload: any DecodedPayload) -> Set<String> {
    var names: Set<String> = []
    for child in Mirror(reflecting: payload).children {
      let mirror = Mirror(reflecting: child.value)
      guard let label = child.label, label != "json",
        mirror.displayStyle != .optional || !mirror.children.isEmpty
      else { continue }
      names.insert(label == "sku" ? "SKU" : label)
    }
    return names
  }

  /// The published bodies that no test of the payloads reads already.
  private let models: [(String, any DecodedPayload.Type)] = [
    ("getAllSubscriptionStatusesResponse", StatusResponse.self),
    ("transactionHistoryResponse", HistoryResponse.self),
    ("getRefundHistoryResponse", RefundHistoryResponse.self),
    ("transactionInfoResponse", TransactionInfoResponse.self),
    ("appTransactionInfoResponse", AppTransactionInfoResponse.self),
    ("lookupOrderIdResponse", OrderLookupResponse.self),
    ("extendSubscriptionRenewalDateResponse", ExtendRenewalDateResponse.self),
    ("extendRenewalDateForAllActiveSubscribersResponse", MassExtendRenewalDateResponse.self),
    ("getStatusOfSubscriptionRenewalDateExtensionsResponse", MassExtendRenewalDateStatusResponse.self),
    ("requestTestNotificationResponse", SendTestNotificationResponse.self),
    ("getTestNotificationStatusResponse", CheckTestNotificationResponse.self),
    ("getNotificationHistoryResponse", NotificationHistoryResponse.self),
    ("getImageListResponse", GetImageListResponse.self),
    ("getMessageListResponse", GetMessageListResponse.self),
    ("getDefaultMessageResponse", DefaultConfigurationResponse.self),
    ("getRealtimeUrlResponse", RealtimeUrlResponse.self),
    ("performanceTestResponse", PerformanceTestResponse.self),
    ("performanceTestResultResponse", PerformanceTestResultResponse.self),
    ("apiException", ErrorPayload.self), ("apiTooManyRequestsException", ErrorPayload.self),
    ("apiUnknownError", ErrorPayload.self), ("invalidTransactionIdError", ErrorPayload.self),
    ("transactionIdNotFoundError", ErrorPayload.self),
    ("transactionIdNotOriginalTransactionId", ErrorPayload.self),
    ("appTransactionDoesNotExistError", ErrorPayload.self),
    ("familyTransactionNotSupportedError", ErrorPayload.self),
    ("invalidAppAccountTokenUUIDError", ErrorPayload.self),
    ("advancedCommerceRequestRefundResponse", AdvancedCommerceResponse.self),
    ("advancedCommerceSubscriptionCancelResponse", AdvancedCommerceResponse.self),
    ("advancedCommerceSubscriptionRevokeResponse", AdvancedCommerceResponse.self),
    ("advancedCommerceSubscriptionPriceChangeResponse", AdvancedCommerceResponse.self),
    ("advancedCommerceSubscriptionChangeMetadataResponse", AdvancedCommerceResponse.self),
    ("advancedCommerceSubscriptionMigrateResponse", AdvancedCommerceResponse.self),
  ]

  /// The published requests whose members are only checked, by their names without `advancedCommerce`.
  private let shapes: [(String, PayloadShape)] = [
    ("RequestInfo", .advancedCommerceRequestInfo), ("Offer", .advancedCommerceOffer),
    ("Descriptors", .advancedCommerceDescriptors), ("RequestRefundRequest", .requestTransactionRefund),
    ("RequestRefundItem", .refundedItem), ("SubscriptionCancelRequest", .cancelSubscription),
    ("SubscriptionRevokeRequest", .revokeSubscription),
    ("SubscriptionPriceChangeRequest", .changeSubscriptionPrice),
    ("SubscriptionPriceChangeItem", .itemPrice),
    ("SubscriptionChangeMetadataRequest", .changeSubscriptionMetadata),
    ("SubscriptionChangeMetadataDescriptors", .advancedCommerceNewDescriptors),
    ("SubscriptionChangeMetadataItem", .itemMetadata), ("SubscriptionMigrateRequest", .migrateSubscription),
    ("SubscriptionMigrateDescriptors", .advancedCommerceDescriptors),
    ("SubscriptionMigrateItem", .migratedItem), ("SubscriptionMigrateRenewalItem", .migratedItem),
    ("OneTimeChargeCreateRequest", .createOneTimeCharge), ("OneTimeChargeItem", .chargedItem),
    ("SubscriptionCreateRequest", .createSubscription), ("SubscriptionCreateItem", .subscribedItem),
    ("SubscriptionModifyInAppRequest", .modifySubscription), ("SubscriptionModifyAddItem", .addedItem),
    ("SubscriptionModifyChangeItem", .changedItem),
    ("SubscriptionModifyRemoveItem", .advancedCommerceItemSKU),
    ("SubscriptionModifyDescriptors", .advancedCommerceNewDescriptors),
    ("SubscriptionModifyPeriodChange", .periodChange),
    ("SubscriptionReactivateInAppRequest", .reactivateSubscription),
    ("SubscriptionReactivateItem", .advancedCommerceItemSKU),
  ]
}
