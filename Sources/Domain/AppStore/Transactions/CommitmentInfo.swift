package import JSON

/// The commitment that a monthly payment is part of (in a transaction).
package struct TransactionCommitmentInfo: DecodedPayload {
  package let json: JSONObject

  /// Which of the payments this is, from 1.
  package let billingPeriodNumber: Int64?
  package let totalBillingPeriods: Int64?
  package let commitmentExpiresDate: Instant?
  /// Of all payments together, in thousandths of the currency.
  package let commitmentPrice: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    billingPeriodNumber = try reader.integer("billingPeriodNumber")
    totalBillingPeriods = try reader.integer("totalBillingPeriods")
    commitmentExpiresDate = try reader.instant("commitmentExpiresDate")
    commitmentPrice = try reader.integer("commitmentPrice")
  }
}

/// The commitment that follows the current one (in a renewal info).
package struct RenewalCommitmentInfo: DecodedPayload {
  package let json: JSONObject

  package let commitmentAutoRenewProductId: String?
  package let commitmentAutoRenewStatus: AutoRenewStatus?
  package let commitmentRenewalBillingPlanType: BillingPlanType?
  package let commitmentRenewalDate: Instant?
  /// In thousandths of the currency.
  package let commitmentRenewalPrice: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    commitmentAutoRenewProductId = try reader.string("commitmentAutoRenewProductId")
    commitmentAutoRenewStatus = try reader.code("commitmentAutoRenewStatus")
    commitmentRenewalBillingPlanType = try reader.code("commitmentRenewalBillingPlanType")
    commitmentRenewalDate = try reader.instant("commitmentRenewalDate")
    commitmentRenewalPrice = try reader.integer("commitmentRenewalPrice")
  }
}
