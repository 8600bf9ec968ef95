import AppStore
import JSON
import Testing

@Suite struct LegacyPayloadTests {
  private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test("A version 1 notification is decoded, with strings as numbers and Booleans")
  func notification() throws {
    let body = try ResponseBodyV1(
      json: object(
        """
        {"notification_type": "DID_CHANGE_RENEWAL_STATUS", "environment": "PROD", "bid": "com.example",
         "auto_renew_status": "false", "auto_renew_status_change_date_ms": "1571420607000",
         "auto_renew_adam_id": 1234, "password": "p", "original_transaction_id": 1000000472106082,
         "unified_receipt": {"environment": "Production", "status": 0, "latest_receipt": "MIIT",
           "latest_receipt_info": [{"product_id": "a", "is_trial_period": "true", "quantity": "1"}],
           "pending_renewal_info": [{"auto_renew_status": "0", "expiration_intent": "1"}]}}
        """))
    #expect(body.notificationType == .didChangeRenewalStatus)
    #expect(body.environment == .production)
    #expect(body.autoRenewStatus == false)
    #expect(body.autoRenewStatusChangeDate?.description == "2019-10-18T17:43:27.000Z")
    #expect(body.autoRenewAdamId == "1234")
    #expect(body.originalTransactionId == "1000000472106082")
    let receipt = try #require(body.unifiedReceipt)
    #expect(receipt.environment == .production)
    #expect(receipt.status == .valid)
    #expect(receipt.latestReceiptInfo?.first?.isTrialPeriod == true)
    #expect(receipt.latestReceiptInfo?.first?.quantity == 1)
    #expect(receipt.pendingRenewalInfo?.first?.autoRenewStatus == false)
    #expect(receipt.pendingRenewalInfo?.first?.expirationIntent == 1)
  }

  // Until 2021 the purchase was in latest_receipt_info, which later bodies repeat in the unified receipt.
  @Test(
    "The purchase of a version 1 notification is found in each form that Apple has sent",
    arguments: [
      (#"{"original_transaction_id": "1", "latest_receipt_info": {"original_transaction_id": "2"}}"#, "1"),
      (#"{"unified_receipt": {"latest_receipt_info": [{"original_transaction_id": "3"}]}}"#, "3"),
      (
        #"{"unified_receipt": {"latest_receipt_info": [{"original_transaction_id": "8", "purchase_date_ms": "1"},"#
          + #"{"original_transaction_id": "7", "purchase_date_ms": "3"}]}}"#, "7"
      ),
      (
        #"{"notification_type": "REFUND", "unified_receipt": {"latest_receipt_info": ["#
          + #"{"original_transaction_id": "7", "purchase_date_ms": "3"},"#
          + #"{"original_transaction_id": "9", "cancellation_date_ms": "5", "is_upgraded": "true"},"#
          + #"{"original_transaction_id": "8", "cancellation_date_ms": "4"}]}}"#, "8"
      ),
      (#"{"latest_receipt_info": {"original_transaction_id": 4, "product_id": "a"}}"#, "4"),
      (#"{"latest_receipt_info": [{"original_transaction_id": "5"}]}"#, "5"),
      (#"{"latest_expired_receipt_info": {"original_transaction_id": "6"}, "latest_receipt": "MIIT"}"#, "6"),
      (#"{"latest_receipt_info": "MIIT"}"#, nil), (#"{"latest_receipt_info": []}"#, nil),
      (#"{"latest_receipt_info": {"original_transaction_id": {}}}"#, nil), ("{}", nil),
    ] as [(String, String?)])
  func purchaseID(json: String, expected: String?) throws {
    #expect(try ResponseBodyV1(json: object(json)).purchaseID == expected)
  }

  @Test(
    "Every legacy date format is decoded",
    arguments: [
      #"{"expires_date_ms": "1571420607000", "expires_date": "nonsense"}"#,
      #"{"expires_date_ms": 1571420607000}"#,
      #"{"expires_date": "2019-10-18 17:43:27 Etc/GMT"}"#,
      #"{"expires_date": "1571420607000"}"#,
    ])
  func date(json: String) throws {
    let transaction = try LegacyTransaction(json: object(json))
    #expect(transaction.expiresDate?.description == "2019-10-18T17:43:27.000Z")
  }

  @Test("A verifyReceipt response is decoded with receipt and retry flag")
  func response() throws {
    let response = try VerifyReceiptResponse(
      json: object(
        """
        {"status": 21100, "is_retryable": "1", "environment": "Sandbox",
         "receipt": {"receipt_type": "ProductionSandbox", "adam_id": 0, "bundle_id": "com.example",
           "original_application_version": "1.0", "novelty": true,
           "in_app": [{"transaction_id": "1", "cancellation_reason": "1", "is_upgraded": "true"}]}}
        """))
    #expect(response.status == .unrecognized(21100))
    #expect(response.isRetryable == true)
    #expect(response.environment == .sandbox)
    #expect(response.receipt?.originalApplicationVersion == "1.0")
    #expect(response.receipt?.json["novelty"] == true)
    #expect(response.receipt?.inApp?.first?.cancellationReason == 1)
    #expect(response.receipt?.inApp?.first?.isUpgraded == true)
    #expect(VerifyReceiptStatus(rawValue: 21002).isRetryable)
    #expect(!VerifyReceiptStatus(rawValue: 21004).isRetryable)
  }

  @Test(
    "The retry flag of a verifyReceipt response is decoded in both spellings",
    arguments: [
      (#""is-retryable": true"#, true), (#""is-retryable": "0""#, false), (#""is_retryable": 1"#, true),
      (#""is_retryable": false, "is-retryable": true"#, false), (#""environment": "Sandbox""#, nil),
    ] as [(String, Bool?)])
  func retryFlag(member: String, expected: Bool?) throws {
    let response = try VerifyReceiptResponse(json: object(#"{"status": 21199, \#(member)}"#))
    #expect(response.isRetryable == expected)
  }

  // Receipts of single transactions have one object where app receipts have an array.
  @Test("An object in place of an array of objects is its only element")
  func singleObject() throws {
    let response = try VerifyReceiptResponse(
      json: object(
        """
        {"status": 0, "latest_receipt_info": {"product_id": "a", "original_transaction_id": 7},
         "pending_renewal_info": null}
        """))
    #expect(response.latestReceiptInfo?.map(\.originalTransactionId) == ["7"])
    #expect(response.pendingRenewalInfo == nil)
    #expect(throws: PayloadError.wrongType(member: "latest_receipt_info", expected: "an array of objects")) {
      try VerifyReceiptResponse(json: object(#"{"latest_receipt_info": "a"}"#))
    }
  }

  @Test("A malformed member is rejected with its name")
  func refused() throws {
    #expect(throws: PayloadError.wrongType(member: "in_app[0].purchase_date", expected: "a date in GMT")) {
      try LegacyReceipt(json: object(#"{"in_app": [{"purchase_date": "2019-10-18 17:43:27 PST"}]}"#))
    }
    #expect(throws: PayloadError.wrongType(member: "is_trial_period", expected: "true or false")) {
      try LegacyTransaction(json: ["is_trial_period": "perhaps"])
    }
    #expect(throws: PayloadError.dateOutOfRange(member: "purchase_date_ms")) {
      try LegacyTransaction(json: ["purchase_date_ms": "999999999999999999"])
    }
  }

  @Test("A verifyReceipt request is decoded")
  func request() throws {
    let request = try VerifyReceiptRequest(
      json: ["receipt-data": "MIIT", "password": "p", "exclude-old-transactions": true])
    #expect(request.receiptData == "MIIT")
    #expect(request.password == "p")
    #expect(request.excludeOldTransactions == true)
  }

  @Test("The pre-order date is decoded from receipts and app transactions")
  func preorder() throws {
    let receipt: JSONObject = [
      "preorder_date": "2021-01-01 00:00:00 Etc/GMT", "preorder_date_ms": "1609459200000",
      "preorder_date_pst": "2020-12-31 16:00:00 America/Los_Angeles",
    ]
    let instant = Instant(rfc3339: "2021-01-01T00:00:00Z")
    #expect(try LegacyReceipt(json: receipt).preorderDate == instant)
    #expect(try AppTransactionPayload(json: ["preorderDate": 1_609_459_200_000]).preorderDate == instant)
    #expect(try LegacyReceipt(json: [:]).preorderDate == nil)
  }
}
