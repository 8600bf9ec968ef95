internal import AppReceipt
internal import AppStore
internal import Entitlements
internal import JSON
internal import ReceiptMigration
internal import SignedData
internal import Wire

/// An app receipt under inspection: its verification result, and its contents even if it does not verify.
struct AppReceiptInspection {
  private let receipt: [UInt8]
  private let app: AppDefinition
  private let verifier: SignedDataVerifier

  /// Decodes and verifies a PKCS#7 receipt in DER or BER.
  init(_ receipt: [UInt8], app: AppDefinition, verifier: SignedDataVerifier) {
    self.receipt = receipt
    self.app = app
    self.verifier = verifier
  }

  /// The response about the receipt. An empty device identifier is not compared.
  func response(deviceIdentifier: [UInt8]) -> InspectResponse {
    var response = verdict(deviceIdentifier)
    guard let unverified = try? UnverifiedReceipt(receipt) else { return response }
    response.certificates = unverified.certificates.map(CertificateSummary.init)
    guard let payload = try? AppReceiptPayload(parsing: unverified.content) else { return response }
    response.payloadJson = payload.json.displayText
    response.bundleId = payload.bundleID ?? ""
    if case .known(let environment) = payload.origin { response.environment = .init(environment) }
    response.signedDate = payload.creationDate.map(GoogleProtobuf.Timestamp.init)
    if !deviceIdentifier.isEmpty {
      response.deviceHashMatches = (try? payload.isFor(device: deviceIdentifier)) ?? false
    }
    return response
  }

  /// Verifies the receipt as a submission would, without storing it.
  private func verdict(_ deviceIdentifier: [UInt8]) -> InspectResponse {
    do throws(VerificationError) {
      let verified: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
        receipt, for: app.identity, environments: Set(app.environments))
      let kind: Wire.DocumentKind = verified.signer == nil ? .xcodeReceipt : .appReceipt
      if let rejection = ReceiptRejection.found(in: verified.payload, device: deviceIdentifier) {
        return InspectResponse(kind, InspectionResult(rejection))
      }
      return InspectResponse(kind, .verified(by: verified.signer))
    } catch {
      if case .xcodeNotAllowed = error { return InspectResponse(.xcodeReceipt, InspectionResult(error)) }
      return InspectResponse(.appReceipt, InspectionResult(error))
    }
  }
}

extension InspectResponse {
  /// A transaction receipt from before iOS 7. It is decoded, but its signature can no longer be verified.
  init(transactionReceipt document: [UInt8], for app: AppDefinition) {
    let receipt: TransactionReceipt
    do throws(AppReceiptError) {
      receipt = try TransactionReceipt(parsing: document)
    } catch {
      self.init(.transactionReceipt, InspectionResult(.notAReceipt(error.description)))
      return
    }
    if let bundle = receipt.bundleID, bundle != app.identity.bundleID {
      self.init(.transactionReceipt, InspectionResult(.wrongBundle(bundle.debugDescription)))
    } else {
      self.init(.transactionReceipt, InspectionResult(ReceiptRejection.notVerifiable))
    }
    payloadJson = receipt.json.displayText
    bundleId = receipt.bundleID ?? ""
    environment = receipt.environment.map(Wire.Environment.init) ?? .unspecified
  }
}
