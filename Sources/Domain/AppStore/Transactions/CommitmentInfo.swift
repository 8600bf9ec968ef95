package import JSON

/// The 12-month commitment of a monthly payment (Apple's `commitmentInfo` of a transaction, API 1.21). Access
/// follows `expiresDate` of the transaction, never ``commitmentExpiresDate``.
package struct TransactionCommitmentInfo: DecodedPayload {
  package let json: JSONObject

  /// The number of this payment, from 1.
  package let billingPeriodNumber: Int64?
  /// The number of payments of the commitment, such as 12.
  package let totalBillingPeriods: Int64?
  /// When the last paid period of the commitment ends.
  package let commitmentExpiresDate: Instant?
  /// The price of all payments together in milliunits of the currency.
  package let commitmentPrice: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    billingPeriodNumber = try json.integer("billingPeriodNumber")
    totalBillingPeriods = try json.integer("totalBillingPeriods")
    commitmentExpiresDate = try json.instant("commitmentExpiresDate")
    commitmentPrice = try json.integer("commitmentPrice")
  }
}

/// The next commitment (Apple's `commitmentInfo` of a renewal info, API 1.21).
package struct RenewalCommitmentInfo: DecodedPayload {
  package let json: JSONObject

  /// The product of the next commitment.
  package let commitmentAutoRenewProductId: String?
  /// Whether another commitment follows this one.
  package let commitmentAutoRenewStatus: AutoRenewStatus?
  /// The billing plan after this commitment.
  package let commitmentRenewalBillingPlanType: BillingPlanType?
  /// When the next commitment starts.
  package let commitmentRenewalDate: Instant?
  /// In milliunits of the currency.
  package let commitmentRenewalPrice: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    commitmentAutoRenewProductId = try json.string("commitmentAutoRenewProductId")
    commitmentAutoRenewStatus = try json.code("commitmentAutoRenewStatus")
    commitmentRenewalBillingPlanType = try json.code("commitmentRenewalBillingPlanType")
    commitmentRenewalDate = try json.instant("commitmentRenewalDate")
    commitmentRenewalPrice = try json.integer("commitmentRenewalPrice")
  }
}
