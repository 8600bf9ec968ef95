/// What documents of Apple's have in common, for the packer. What comes most often is last.
///
/// The bodies in every store refer to it, so it never changes; another one would come beside it, under
/// another number of `evidence.packing`.
enum CompressionDictionary {
  static let first = Array(text.utf8)

  private static let text =
    #""advancedCommerceInfo":{"commitmentInfo":{"billingPlanType":""rawConsumptionRequestReason":""#
    + #""externalPurchaseId":""tokenCreationDate":"responseIdentifier":""requestIdentifier":""#
    + #""storefrontCountryCodes":["succeededCount":,"failedCount":,"summary":{"appData":{"#
    + #""signedAppTransactionInfo":""applicationVersion":""originalApplicationVersion":""preorderDate":"#
    + #""deviceVerification":""deviceVerificationNonce":""originalPlatform":"iOS""receiptType":"ProductionSandbox","#
    + #""receiptCreationDate":"bundleVersion":"1""appAppleId":"versionExternalIdentifier":"#
    + #""expirationIntent":1,"gracePeriodExpiresDate":"priceIncreaseStatus":1,"eligibleWinBackOfferIds":[""#
    + #""offerPeriod":"P1M","offerDiscountType":"FREE_TRIALPAY_AS_YOU_GOPAY_UP_FRONT","offerIdentifier":""offerType":1,"#
    + #""revocationType":"REFUND_FULLREFUND_PRORATEDFAMILY_REVOKE","revocationPercentage":"revocationDate":"#
    + #""revocationReason":0,"isUpgraded":true,"inAppOwnershipType":"FAMILY_SHARED","#
    + #""type":"Non-ConsumableConsumableNon-Renewing Subscription","notificationType":"TESTONE_TIME_CHARGE"#
    + #"CONSUMPTION_REQUESTREFUND_DECLINEDREFUND_REVERSEDREFUNDREVOKEPRICE_INCREASERENEWAL_EXTENDEDRENEWAL_EXTENSION"#
    + #"GRACE_PERIOD_EXPIREDGRACE_PERIODBILLING_RECOVERYBILLING_RETRYDID_FAIL_TO_RENEWEXPIREDVOLUNTARY"#
    + #"OFFER_REDEEMEDDID_CHANGE_RENEWAL_PREFUPGRADEDOWNGRADEDID_CHANGE_RENEWAL_STATUSAUTO_RENEW_ENABLED"#
    + #"AUTO_RENEW_DISABLED"SUBSCRIBED","subtype":"RESUBSCRIBEINITIAL_BUYDID_RENEW","notificationUUID":""#
    + #"","data":{"appAppleId":"bundleId":"com.","bundleVersion":"1","environment":"ProductionSandbox","#
    + #""signedTransactionInfo":"","signedRenewalInfo":"","status":1}"},"version":"2.0","signedDate":17"#
    + #"{"originalTransactionId":"","autoRenewProductId":"","productId":"","autoRenewStatus":1,"#
    + #""isInBillingRetryPeriod":false,"renewalPrice":990,"currency":"USD","signedDate":17,"environment":"Sandbox","#
    + #""recentSubscriptionStartDate":17,"renewalDate":17,"appTransactionId":"70"}"#
    + #"{"transactionId":"2000000,"originalTransactionId":"2000000","webOrderLineItemId":"2000000","#
    + #""bundleId":"com.","productId":"","subscriptionGroupIdentifier":"2","purchaseDate":17,"originalPurchaseDate":17,"#
    + #""expiresDate":17,"quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":"","#
    + #""inAppOwnershipType":"PURCHASED","signedDate":17,"environment":"Production","transactionReason":"#
    + #""PURCHASE","storefront":"USA","storefrontId":"143441","price":9990,"currency":"USD","appTransactionId":"70"}"#
    + #"RENEWAL","{"signedPayload":""#
}
