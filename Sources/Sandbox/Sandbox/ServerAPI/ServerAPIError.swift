internal import HTTP
internal import JSON

/// An error response of the Server API. The raw value is Apple's error code, whose first three digits are the HTTP
/// status.
///
/// The numbers and texts are from Apple's documentation ("App Store Server API", error codes).
enum ServerAPIError: Int64, Error, Hashable {
  case generalBadRequest = 4_000_000
  case invalidLimit = 4_000_004
  case invalidRequestRevision = 4_000_005
  case invalidTransactionId = 4_000_006
  case invalidOriginalTransactionId = 4_000_008
  case invalidExtendByDays = 4_000_009
  case invalidExtendReasonCode = 4_000_010
  case invalidRequestIdentifier = 4_000_011
  case startDateTooFarInPast = 4_000_012
  case startDateAfterEndDate = 4_000_013
  case invalidPaginationToken = 4_000_014
  case invalidStartDate = 4_000_015
  case invalidEndDate = 4_000_016
  case paginationTokenExpired = 4_000_017
  case invalidNotificationType = 4_000_018
  case multipleFiltersSupplied = 4_000_019
  case invalidTestNotificationToken = 4_000_020
  case invalidSort = 4_000_021
  case invalidProductType = 4_000_022
  case invalidProductId = 4_000_023
  case invalidInAppOwnershipType = 4_000_026
  case emptyStorefrontList = 4_000_027
  case invalidStorefront = 4_000_028
  case invalidRevoked = 4_000_030
  case invalidStatus = 4_000_031
  case invalidAccountTenure = 4_000_032
  case invalidAppAccountToken = 4_000_033
  case invalidConsumptionStatus = 4_000_034
  case invalidCustomerConsented = 4_000_035
  case invalidDeliveryStatus = 4_000_036
  case invalidLifetimeDollarsPurchased = 4_000_037
  case invalidLifetimeDollarsRefunded = 4_000_038
  case invalidPlatform = 4_000_039
  case invalidPlayTime = 4_000_040
  case invalidSampleContentProvided = 4_000_041
  case invalidUserStatus = 4_000_042
  case invalidRefundPreference = 4_000_044
  case transactionTypeNotSupported = 4_000_047
  case appTransactionIdNotSupported = 4_000_048
  case invalidImage = 4_000_161
  case headerTooLong = 4_000_162
  case bodyTooLong = 4_000_163
  case invalidLocale = 4_000_164
  case altTextTooLong = 4_000_175
  case invalidAppAccountTokenUUID = 4_000_183
  case familyTransactionNotSupported = 4_000_185
  case transactionIdIsNotOriginal = 4_000_187
  case invalidPerformanceTestRequest = 4_000_211
  case invalidRequestId = 4_000_212
  case existingPerformanceTestRun = 4_000_213
  case badRealtimeURL = 4_000_215
  case invalidImageSize = 4_000_216
  case tooManyBulletPoints = 4_000_218
  case bulletPointTooLong = 4_000_219
  case aboveImageWithoutImage = 4_000_224
  case consumptionPercentageOfSubscription = 4_000_209
  case invalidGroupId = 4_000_225
  case assignedTransactionNotSupported = 4_000_227
  case extensionIneligible = 4_030_004
  case extensionTooOften = 4_030_005
  case extensionFamilyShared = 4_030_007
  case tooManyImages = 4_030_014
  case tooManyMessages = 4_030_016
  case messageNotApproved = 4_030_017
  case imageNotApproved = 4_030_018
  case imageInUse = 4_030_019
  case assignedExtensionIneligible = 4_030_028
  case appNotFound = 4_040_003
  case originalTransactionIdNotFound = 4_040_005
  case notificationURLNotFound = 4_040_007
  case testNotificationNotFound = 4_040_008
  case statusRequestNotFound = 4_040_009
  case transactionIdNotFound = 4_040_010
  case imageNotFound = 4_040_014
  case messageNotFound = 4_040_015
  case performanceTestRunNotFound = 4_040_018
  case appTransactionDoesNotExist = 4_040_019
  case defaultMessageNotFound = 4_040_020
  case realtimeURLNotFound = 4_040_021
  case groupNotFound = 4_040_022
  case imageAlreadyExists = 4_090_000
  case messageAlreadyExists = 4_090_001
  case rateLimitExceeded = 4_290_000
  case generalInternal = 5_000_000
  // Apple documents these by name only. These raw values never leave the process: see `number`.
  case missingLineItemsForStatus = 4_009_991
  case lineItemsNotAllowedForStatus = 4_009_992
  case duplicateTokenStatusNotAllowed = 4_009_993
  case duplicateValue = 4_009_994
  case consumptionPercentageOutOfRange = 4_009_989
  case undeliveredConsumptionPercentageNonZero = 4_009_990
  case appTransactionIdNotFound = 4_009_996
  case seatClaimIdNotFound = 4_009_997
  case noAvailableSeats = 4_009_998
  case transactionNotDevManagedGroup = 4_009_999

  /// Apple's number for the error; 4000000 where Apple documents none.
  private var number: Int64 {
    switch self {
    case .appTransactionIdNotFound, .seatClaimIdNotFound, .noAvailableSeats, .transactionNotDevManagedGroup,
      .missingLineItemsForStatus, .lineItemsNotAllowedForStatus, .duplicateTokenStatusNotAllowed,
      .duplicateValue, .consumptionPercentageOutOfRange, .undeliveredConsumptionPercentageNonZero:
      Self.generalBadRequest.rawValue
    default: rawValue
    }
  }

  /// Apple's response: the status and a body with number and text.
  var response: HTTPResponse {
    let body: JSONObject = ["errorCode": JSONValue(number), "errorMessage": .string(message)]
    // The first three digits are the HTTP status.
    return .json(Int(number / 10_000), body.serialized())
  }

  /// Apple's text; where Apple documents a name only, that name.
  private var message: String {
    switch self {
    case .generalBadRequest: "Bad request."
    case .missingLineItemsForStatus: "MissingLineItemsForStatusError"
    case .lineItemsNotAllowedForStatus: "LineItemsNotAllowedForStatusError"
    case .duplicateTokenStatusNotAllowed: "DuplicateTokenStatusNotAllowedError"
    case .duplicateValue: "DuplicateValueError"
    case .consumptionPercentageOutOfRange: "ConsumptionPercentageOutOfRangeError"
    case .undeliveredConsumptionPercentageNonZero: "UndeliveredConsumptionPercentageNonZeroError"
    case .appTransactionIdNotFound: "AppTransactionIdNotFoundError"
    case .seatClaimIdNotFound: "SeatClaimIdNotFoundError"
    case .noAvailableSeats: "NoAvailableSeatsError"
    case .transactionNotDevManagedGroup: "TransactionNotDevManagedGroupError"
    case .invalidLimit: "Invalid limit."
    case .invalidRequestRevision: "Invalid request revision."
    case .invalidTransactionId: "Invalid transaction id."
    case .invalidOriginalTransactionId: "Invalid original transaction id."
    case .invalidExtendByDays: "Invalid extend by days value."
    case .invalidExtendReasonCode: "Invalid extend reason code."
    case .invalidRequestIdentifier: "Invalid request identifier."
    case .startDateTooFarInPast: "Invalid request. The start date is earlier than the allowed start date."
    case .startDateAfterEndDate: "Invalid request. The start date is after the end date."
    case .invalidPaginationToken: "Invalid request. The pagination token is invalid."
    case .invalidStartDate: "Invalid request. The start date is invalid."
    case .invalidEndDate: "Invalid request. The end date is invalid."
    case .paginationTokenExpired: "Invalid request. The pagination token is expired."
    case .invalidNotificationType: "Invalid request. The notification type or subtype is invalid."
    case .multipleFiltersSupplied: "Invalid request. Supply either a transaction id or a notification type."
    case .invalidTestNotificationToken: "Invalid request. The test notification token is invalid."
    case .invalidSort: "Invalid request. The sort parameter is invalid."
    case .invalidProductType: "Invalid request. The product type parameter is invalid."
    case .invalidProductId: "Invalid request. The product id parameter is invalid."
    case .invalidInAppOwnershipType: "Invalid request. The in-app ownership type parameter is invalid."
    case .invalidRevoked: "Invalid request. The revoked parameter is invalid."
    case .invalidStatus: "Invalid request. The status parameter is invalid."
    case .invalidAppAccountToken: "Invalid request. The app account token field is invalid."
    case .invalidConsumptionStatus: "Invalid request. The consumption status field is invalid."
    case .invalidCustomerConsented: "Invalid request. The customer consented field is invalid."
    case .invalidDeliveryStatus: "Invalid request. The delivery status field is invalid."
    case .invalidAccountTenure: "Invalid request. The account tenure field is invalid."
    case .invalidLifetimeDollarsPurchased:
      "Invalid request. The lifetime dollars purchased field is invalid."
    case .invalidLifetimeDollarsRefunded: "Invalid request. The lifetime dollars refunded field is invalid."
    case .invalidPlatform: "Invalid request. The platform field is invalid."
    case .invalidPlayTime: "Invalid request. The playtime field is invalid."
    case .invalidSampleContentProvided: "Invalid request. The sample content provided field is invalid."
    case .invalidUserStatus: "Invalid request. The user status field is invalid."
    case .invalidRefundPreference: "Invalid request. The refund preference field is invalid."
    case .consumptionPercentageOfSubscription:
      "Invalid request. The consumption percentage field is not supported for auto-renewable subscription "
        + "transactions."
    case .transactionTypeNotSupported: "Invalid request. The in-app purchase type is not supported."
    case .appTransactionIdNotSupported: "Invalid request. App transactions aren't supported by this endpoint."
    case .invalidAppAccountTokenUUID: "Invalid request. The app account token is not a valid UUID."
    case .familyTransactionNotSupported: "Invalid request. Family Sharing transactions aren't supported."
    case .transactionIdIsNotOriginal: "Invalid request. The transaction id is not an original transaction id."
    case .extensionIneligible: "Forbidden - subscription state ineligible for extension."
    case .extensionTooOften: "Forbidden - subscription has reached maximum extension count."
    case .extensionFamilyShared:
      "Subscriptions that users obtain through Family Sharing can't get an extension."
    case .emptyStorefrontList: "Invalid request. The storefront country code list is empty."
    case .invalidStorefront: "Invalid request. A storefront country code is invalid."
    case .assignedTransactionNotSupported: "Assigned transactions aren't supported by this endpoint."
    case .assignedExtensionIneligible: "Assigned subscriptions can't get a renewal date extension."
    case .appNotFound: "App not found."
    case .originalTransactionIdNotFound: "Original transaction id not found."
    case .notificationURLNotFound: "App Store server notification URL not found for provided app."
    case .testNotificationNotFound: "Either the test notification token is expired or it isn't available yet."
    case .statusRequestNotFound: "The server didn't find a subscription-renewal-date extension request."
    case .transactionIdNotFound: "Transaction id not found."
    case .appTransactionDoesNotExist: "No AppTransaction exists for the customer."
    case .rateLimitExceeded: "Rate limit exceeded."
    case .generalInternal: "An unknown error occurred."
    case .invalidImage: "Invalid image."
    case .headerTooLong: "Invalid request. The header is too long."
    case .bodyTooLong: "Invalid request. The body is too long."
    case .invalidLocale: "Invalid request. The locale is invalid."
    case .altTextTooLong: "Invalid request. The alternative text is too long."
    case .invalidPerformanceTestRequest: "Invalid request. The performance test request is invalid."
    case .invalidRequestId: "Invalid request. The request id is invalid."
    case .existingPerformanceTestRun: "Invalid request. A performance test is running."
    case .badRealtimeURL: "Invalid request. The realtime URL is invalid."
    case .invalidImageSize: "Invalid request. The image size is invalid."
    case .tooManyBulletPoints: "Invalid request. There are too many bullet points."
    case .bulletPointTooLong: "Invalid request. The text of a bullet point is too long."
    case .aboveImageWithoutImage: "Invalid request. ABOVE_IMAGE requires an image."
    case .invalidGroupId: "Invalid request. The group id is invalid."
    case .tooManyImages: "Forbidden - the maximum number of images is reached."
    case .tooManyMessages: "Forbidden - the maximum number of messages is reached."
    case .messageNotApproved: "Forbidden - the message is not approved."
    case .imageNotApproved: "Forbidden - the image is not approved."
    case .imageInUse: "Forbidden - the image is in use."
    case .imageNotFound: "Image not found."
    case .messageNotFound: "Message not found."
    case .performanceTestRunNotFound: "Performance test run not found."
    case .defaultMessageNotFound: "Default message not found."
    case .realtimeURLNotFound: "Realtime URL not found."
    case .groupNotFound: "Group not found."
    case .imageAlreadyExists: "An image with this identifier already exists."
    case .messageAlreadyExists: "A message with this identifier already exists."
    }
  }
}
