// The signed documents of the App Store, verified with JWTKit, for projects without Apple's library.
import Foundation
import JWTKit
import SwiftASN1
import X509

/// A notification of version 2, with the members that the shop uses.
struct Notification: JWTPayload, ValidationTimePayload {
  struct Content: Codable, Sendable {
    var bundleId: String
    var environment: String
    var signedTransactionInfo: String?
    /// 1 to 5; `nil` without a subscription.
    var status: Int?
  }

  var data: Content?
  var signedDate: Date

  func verify(using algorithm: some JWTAlgorithm) {}
}

/// A transaction, with the members that the shop uses.
struct Transaction: JWTPayload, ValidationTimePayload {
  var originalTransactionId: String
  var bundleId: String
  var environment: String
  /// The customer, as the app named it to StoreKit.
  var appAccountToken: UUID?
  var revocationDate: Date?
  var signedDate: Date

  func verify(using algorithm: some JWTAlgorithm) {}
}

/// Verifies documents under one root certificate.
struct DocumentVerifier: Sendable {
  private let verifier: X5CVerifier

  /// - Parameter root: Apple's root certificate in DER; in tests, the sandbox's.
  /// - Throws: an error of X509 if these are not the bytes of a certificate.
  init(root: Data) throws { verifier = try X5CVerifier(rootCertificates: [root]) }

  /// Returns the content of a document; throws if its signature or chain is not valid.
  func verified<Document: JWTPayload>(_ document: String, as type: Document.Type) async throws -> Document {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    return try await verifier.verifyJWS(Array(document.utf8), as: type, jsonDecoder: decoder) { AppleChain() }
  }
}

/// Accepts only chains with the extensions that mark the certificates with which Apple signs these documents.
private struct AppleChain: VerifierPolicy {
  private static let leaf: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
  private static let intermediate: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

  let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = []

  func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
    guard chain.count == 3, chain[0].extensions[oid: Self.leaf] != nil,
      chain[1].extensions[oid: Self.intermediate] != nil
    else { return .failsToMeetPolicy(reason: "not the chain of an App Store document") }
    return .meetsPolicy
  }
}
