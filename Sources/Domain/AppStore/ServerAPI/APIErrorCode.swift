package import JSON

/// The seven-digit error code of the App Store Server API (App Store Server API, Error codes). The first
/// three digits are the HTTP status.
package enum APIErrorCode: OpenCode {
  case generalBadRequest
  case invalidAppIdentifier
  case invalidLimit
  case invalidRequestRevision
  case invalidTransactionId
  case invalidOriginalTransactionId
  case invalidExtendByDays
  case invalidExtendReasonCode
  case invalidRequestIdentifier
  case startDateTooFarInPast
  case startDateAfterEndDate
  case invalidPaginationToken
  case invalidStartDate
  case invalidEndDate
  case paginationTokenExpired
  case invalidNotificationType
  case multipleFiltersSupplied
  case invalidTestNotificationToken
  case invalidSort
  case invalidProductType
  case invalidProductId
  case invalidSubscriptionGroupIdentifier
  case invalidExcludeRevoked
  case invalidInAppOwnershipType
  case invalidEmptyStorefrontCountryCodeList
  case invalidStorefrontCountryCode
  case invalidRevoked
  case invalidStatus
  case invalidAccountTenure
  case invalidAppAccountToken
  case invalidConsumptionStatus
  case invalidCustomerConsented
  case invalidDeliveryStatus
  case invalidLifetimeDollarsPurchased
  case invalidLifetimeDollarsRefunded
  case invalidPlatform
  case invalidPlayTime
  case invalidSampleContentProvided
  case invalidUserStatus
  case invalidTransactionNotConsumable
  case invalidTransactionTypeNotSupported
  case appTransactionIdNotSupported
  case invalidImage
  case headerTooLong
  case bodyTooLong
  case invalidLocale
  case altTextTooLong
  case invalidAppAccountTokenUUID
  case familyTransactionNotSupported
  case transactionIdIsNotOriginalTransactionId
  case invalidPerformanceTestRequest
  case invalidRequestId
  case existingPerformanceTestRun
  case badRequestRealtimeUrl
  case badRequestImageSize
  case badRequestTooManyBulletPoints
  case badRequestBulletPointTextTooLong
  case badRequestAboveImageRequiresAnImage
  case invalidGroupId
  case assignedTransactionNotSupported
  case subscriptionExtensionIneligible
  case subscriptionMaxExtension
  case familySharedSubscriptionExtensionIneligible
  case maximumNumberOfImagesReached
  case maximumNumberOfMessagesReached
  case messageNotApproved
  case imageNotApproved
  case imageInUse
  case forbiddenNoPassingTest
  case assignedSubscriptionExtensionIneligible
  case accountNotFound
  case accountNotFoundRetryable
  case appNotFound
  case appNotFoundRetryable
  case originalTransactionIdNotFound
  case originalTransactionIdNotFoundRetryable
  case serverNotificationUrlNotFound
  case testNotificationNotFound
  case statusRequestNotFound
  case transactionIdNotFound
  case imageNotFound
  case messageNotFound
  case performanceTestRunNotFound
  case appTransactionDoesNotExist
  case defaultMessageNotFound
  case realtimeUrlNotFound
  case groupNotFound
  case imageAlreadyExists
  case messageAlreadyExists
  case rateLimitExceeded
  case generalInternal
  case generalInternalRetryable
  case invalidRefundPreference
  case consumptionPercentageOfSubscription
  case unrecognized(Int64)

  package static let known: [APIErrorCode] = [
    .generalBadRequest, .invalidAppIdentifier, .invalidLimit, .invalidRequestRevision,
    .invalidTransactionId, .invalidOriginalTransactionId, .invalidExtendByDays, .invalidExtendReasonCode,
    .invalidRequestIdentifier, .startDateTooFarInPast, .startDateAfterEndDate, .invalidPaginationToken,
    .invalidStartDate, .invalidEndDate, .paginationTokenExpired, .invalidNotificationType,
    .multipleFiltersSupplied, .invalidTestNotificationToken, .invalidSort, .invalidProductType,
    .invalidProductId, .invalidSubscriptionGroupIdentifier, .invalidExcludeRevoked,
    .invalidInAppOwnershipType, .invalidEmptyStorefrontCountryCodeList, .invalidStorefrontCountryCode,
    .invalidRevoked, .invalidStatus, .invalidAccountTenure, .invalidAppAccountToken,
    .invalidConsumptionStatus, .invalidCustomerConsented, .invalidDeliveryStatus,
    .invalidLifetimeDollarsPurchased, .invalidLifetimeDollarsRefunded, .invalidPlatform, .invalidPlayTime,
    .invalidSampleContentProvided, .invalidUserStatus, .invalidTransactionNotConsumable,
    .invalidTransactionTypeNotSupported, .appTransactionIdNotSupported, .invalidImage, .headerTooLong,
    .bodyTooLong, .invalidLocale, .altTextTooLong, .invalidAppAccountTokenUUID,
    .familyTransactionNotSupported, .transactionIdIsNotOriginalTransactionId,
    .invalidPerformanceTestRequest, .invalidRequestId, .existingPerformanceTestRun, .badRequestRealtimeUrl,
    .badRequestImageSize, .badRequestTooManyBulletPoints, .badRequestBulletPointTextTooLong,
    .badRequestAboveImageRequiresAnImage, .invalidGroupId, .assignedTransactionNotSupported,
    .subscriptionExtensionIneligible,
    .subscriptionMaxExtension, .familySharedSubscriptionExtensionIneligible, .maximumNumberOfImagesReached,
    .maximumNumberOfMessagesReached, .messageNotApproved, .imageNotApproved, .imageInUse,
    .forbiddenNoPassingTest, .assignedSubscriptionExtensionIneligible, .accountNotFound,
    .accountNotFoundRetryable, .appNotFound,
    .appNotFoundRetryable, .originalTransactionIdNotFound, .originalTransactionIdNotFoundRetryable,
    .serverNotificationUrlNotFound, .testNotificationNotFound, .statusRequestNotFound,
    .transactionIdNotFound, .imageNotFound, .messageNotFound, .performanceTestRunNotFound,
    .appTransactionDoesNotExist, .defaultMessageNotFound, .realtimeUrlNotFound, .groupNotFound,
    .imageAlreadyExists, .messageAlreadyExists, .rateLimitExceeded, .generalInternal,
    .generalInternalRetryable, .invalidRefundPreference, .consumptionPercentageOfSubscription,
  ]

  package var rawValue: Int64 {
    switch self {
    case .generalBadRequest: 4_000_000
    case .invalidAppIdentifier: 4_000_002
    case .invalidLimit: 4_000_004
    case .invalidRequestRevision: 4_000_005
    case .invalidTransactionId: 4_000_006
    case .invalidOriginalTransactionId: 4_000_008
    case .invalidExtendByDays: 4_000_009
    case .invalidExtendReasonCode: 4_000_010
    case .invalidRequestIdentifier: 4_000_011
    case .startDateTooFarInPast: 4_000_012
    case .startDateAfterEndDate: 4_000_013
    case .invalidPaginationToken: 4_000_014
    case .invalidStartDate: 4_000_015
    case .invalidEndDate: 4_000_016
    case .paginationTokenExpired: 4_000_017
    case .invalidNotificationType: 4_000_018
    case .multipleFiltersSupplied: 4_000_019
    case .invalidTestNotificationToken: 4_000_020
    case .invalidSort: 4_000_021
    case .invalidProductType: 4_000_022
    case .invalidProductId: 4_000_023
    case .invalidSubscriptionGroupIdentifier: 4_000_024
    case .invalidExcludeRevoked: 4_000_025
    case .invalidInAppOwnershipType: 4_000_026
    case .invalidEmptyStorefrontCountryCodeList: 4_000_027
    case .invalidStorefrontCountryCode: 4_000_028
    case .invalidRevoked: 4_000_030
    case .invalidStatus: 4_000_031
    case .invalidAccountTenure: 4_000_032
    case .invalidAppAccountToken: 4_000_033
    case .invalidConsumptionStatus: 4_000_034
    case .invalidCustomerConsented: 4_000_035
    case .invalidDeliveryStatus: 4_000_036
    case .invalidLifetimeDollarsPurchased: 4_000_037
    case .invalidLifetimeDollarsRefunded: 4_000_038
    case .invalidPlatform: 4_000_039
    case .invalidPlayTime: 4_000_040
    case .invalidSampleContentProvided: 4_000_041
    case .invalidUserStatus: 4_000_042
    case .invalidTransactionNotConsumable: 4_000_043
    case .invalidTransactionTypeNotSupported: 4_000_047
    case .appTransactionIdNotSupported: 4_000_048
    case .invalidImage: 4_000_161
    case .headerTooLong: 4_000_162
    case .bodyTooLong: 4_000_163
    case .invalidLocale: 4_000_164
    case .altTextTooLong: 4_000_175
    case .invalidAppAccountTokenUUID: 4_000_183
    case .familyTransactionNotSupported: 4_000_185
    case .transactionIdIsNotOriginalTransactionId: 4_000_187
    case .invalidPerformanceTestRequest: 4_000_211
    case .invalidRequestId: 4_000_212
    case .existingPerformanceTestRun: 4_000_213
    case .badRequestRealtimeUrl: 4_000_215
    case .badRequestImageSize: 4_000_216
    case .badRequestTooManyBulletPoints: 4_000_218
    case .badRequestBulletPointTextTooLong: 4_000_219
    case .badRequestAboveImageRequiresAnImage: 4_000_224
    case .invalidGroupId: 4_000_225
    case .assignedTransactionNotSupported: 4_000_227
    case .subscriptionExtensionIneligible: 4_030_004
    case .subscriptionMaxExtension: 4_030_005
    case .familySharedSubscriptionExtensionIneligible: 4_030_007
    case .maximumNumberOfImagesReached: 4_030_014
    case .maximumNumberOfMessagesReached: 4_030_016
    case .messageNotApproved: 4_030_017
    case .imageNotApproved: 4_030_018
    case .imageInUse: 4_030_019
    case .forbiddenNoPassingTest: 4_030_026
    case .assignedSubscriptionExtensionIneligible: 4_030_028
    case .accountNotFound: 4_040_001
    case .accountNotFoundRetryable: 4_040_002
    case .appNotFound: 4_040_003
    case .appNotFoundRetryable: 4_040_004
    case .originalTransactionIdNotFound: 4_040_005
    case .originalTransactionIdNotFoundRetryable: 4_040_006
    case .serverNotificationUrlNotFound: 4_040_007
    case .testNotificationNotFound: 4_040_008
    case .statusRequestNotFound: 4_040_009
    case .transactionIdNotFound: 4_040_010
    case .imageNotFound: 4_040_014
    case .messageNotFound: 4_040_015
    case .performanceTestRunNotFound: 4_040_018
    case .appTransactionDoesNotExist: 4_040_019
    case .defaultMessageNotFound: 4_040_020
    case .realtimeUrlNotFound: 4_040_021
    case .groupNotFound: 4_040_022
    case .imageAlreadyExists: 4_090_000
    case .messageAlreadyExists: 4_090_001
    case .rateLimitExceeded: 4_290_000
    case .generalInternal: 5_000_000
    case .generalInternalRetryable: 5_000_001
    case .invalidRefundPreference: 4_000_044
    case .consumptionPercentageOfSubscription: 4_000_209
    case .unrecognized(let rawValue): rawValue
    }
  }

  /// Whether Apple documents that the same request may succeed later.
  package var isRetryable: Bool {
    switch self {
    case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
      .rateLimitExceeded, .generalInternal, .generalInternalRetryable:
      true
    default: false
    }
  }
}

/// The body of an error response of the App Store Server API.
package struct ErrorPayload: DecodedPayload {
  package let json: JSONObject

  /// See ``APIErrorCode``.
  package let errorCode: Int64?
  /// Apple's English text, for logs and operators; only ``errorCode`` decides what to do.
  package let errorMessage: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    errorCode = try json.integer("errorCode")
    errorMessage = try json.string("errorMessage")
  }
}
