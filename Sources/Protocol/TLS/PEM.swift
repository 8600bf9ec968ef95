internal import CTLS
internal import Glibc

/// Certificates in PEM, in the order of their text.
package final class CertificateList: Sendable {
  // The objects are never changed, and OpenSSL counts references to them atomically.
  nonisolated(unsafe) let certificates: [OpaquePointer]

  /// Reads a file; `nil` if it has no certificate, or a damaged one.
  package convenience init?(file: String) {
    self.init(BIO_new_file(file, "r"))
  }

  /// Reads a text; `nil` if it has no certificate, or a damaged one.
  package convenience init?(pem: String) {
    self.init(PEMInput.text(pem))
  }

  private init?(_ input: OpaquePointer?) {
    defer {
      BIO_free(input)
      ERR_clear_error()
    }
    var certificates: [OpaquePointer] = []
    while input != nil, let certificate = entitled_tls_read_certificate(input) {
      certificates.append(certificate)
    }
    self.certificates = certificates
    // The reader also stops at a certificate that it cannot decode.
    guard !certificates.isEmpty, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
      return nil
    }
  }

  deinit { for certificate in certificates { X509_free(certificate) } }

  /// The first end of the certificates, in seconds since 1970.
  package var end: Int64 {
    certificates.map { certificate in
      var time = tm()
      return ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 ? Int64(timegm(&time)) : 0
    }.min() ?? 0
  }
}

/// A private key in PEM.
package final class PrivateKey: Sendable {
  // The key is never changed.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Reads a file; `nil` if it has no private key, or one with a passphrase.
  package convenience init?(file: String) {
    self.init(BIO_new_file(file, "r"))
  }

  /// Reads a text; `nil` if it has no private key, or one with a passphrase.
  package convenience init?(pem: String) {
    self.init(PEMInput.text(pem))
  }

  private init?(_ input: OpaquePointer?) {
    defer {
      BIO_free(input)
      ERR_clear_error()
    }
    guard input != nil, let key = entitled_tls_read_key(input) else { return nil }
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }
}

private enum PEMInput {
  /// A reader of a copy of the text.
  static func text(_ pem: String) -> OpaquePointer? {
    let input = BIO_new(BIO_s_mem())
    var bytes = Array(pem.utf8)
    BIO_write(input, &bytes, CInt(clamping: bytes.count))
    return input
  }
}
