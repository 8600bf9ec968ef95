internal import COpenSSL

/// Roots to which OpenSSL builds certification paths (RFC 5280), without checking validity dates.
///
/// The dates are checked against the time of signing, which is known only after the signature is verified:
/// see ``Signer/validity``.
// Unchecked: filled in `init` and only read afterwards, under OpenSSL's lock.
final class CertificateStore: @unchecked Sendable {
  private let store: OpaquePointer
  private let flags: UInt

  /// A store of `roots`. `strict` requires that every certificate conforms to RFC 5280.
  init(roots: [Certificate], strict: Bool) throws(CryptographyError) {
    store = try made(X509_STORE_new(), "make a certificate store")
    flags =
      UInt(X509_V_FLAG_NO_CHECK_TIME)
      // A root is trusted because it is pinned or configured, not because it is self-signed.
      | UInt(X509_V_FLAG_PARTIAL_CHAIN)
      | (strict ? UInt(X509_V_FLAG_X509_STRICT) : 0)
    for root in roots {
      try check(X509_STORE_add_cert(store, root.pointer), "add a root to a certificate store")
    }
  }

  deinit { X509_STORE_free(store) }

  /// The result of building a path.
  enum Path {
    /// leaf, intermediate, then the root with this DER.
    case found(root: [UInt8])
    /// No path; the reason is OpenSSL's text.
    case refused(String)
  }

  /// Builds the path from leaf through intermediate to one of the roots, and accepts no other.
  func path(leaf: Certificate, intermediate: Certificate) throws(CryptographyError) -> Path {
    let untrusted = try made(entitled_certificates_new(), "make a list of certificates")
    defer { entitled_certificates_free(untrusted) }
    guard entitled_certificates_push(untrusted, intermediate.pointer) > 0 else {
      throw .failed(operation: "make a list of certificates", detail: ErrorQueue.take())
    }
    let context = try made(X509_STORE_CTX_new(), "check a certificate chain")
    defer { X509_STORE_CTX_free(context) }
    try check(X509_STORE_CTX_init(context, store, leaf.pointer, untrusted), "check a certificate chain")
    X509_STORE_CTX_set_flags(context, flags)
    guard X509_verify_cert(context) == 1 else {
      ERR_clear_error()
      return .refused(String(cString: X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context)))))
    }
    return try accepted(X509_STORE_CTX_get0_chain(context), intermediate: intermediate)
  }

  /// Accepts a path only through the document's intermediate, whose marker was checked.
  private func accepted(_ chain: OpaquePointer?, intermediate: Certificate) throws(CryptographyError) -> Path
  {
    guard entitled_certificates_count(chain) == 3,
      X509_cmp(entitled_certificates_at(chain, 1), intermediate.pointer) == 0
    else { return .refused("the path does not use the document's intermediate certificate") }
    let root = entitled_certificates_at(chain, 2)
    return .found(root: try encoded("write a certificate") { i2d_X509(root, $0) })
  }
}
