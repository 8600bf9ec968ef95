internal import CTLS
internal import Glibc

/// A text in PEM: that of a file, or one in memory.
package enum PEMSource: Sendable {
  /// The path of a file.
  case file(String)
  case text(String)

  /// Calls `body` with a reader of the text; `nil` if the file cannot be opened. Discards OpenSSL's errors afterwards.
  fileprivate func read<Value>(_ body: (OpaquePointer) -> Value?) -> Value? {
    let input =
      switch self {
      case .file(let path): BIO_new_file(path, "r")
      case .text(let text): Self.copy(of: text)
      }
    defer {
      BIO_free(input)
      ERR_clear_error()
    }
    return input.flatMap(body)
  }

  private static func copy(of text: String) -> OpaquePointer? {
    let input = BIO_new(BIO_s_mem())
    var bytes = Array(text.utf8)
    BIO_write(input, &bytes, CInt(clamping: bytes.count))
    return input
  }
}

/// Certificates in PEM, in the order of their text.
package final class CertificateList: Sendable {
  // The objects are never changed, and OpenSSL counts references to them atomically.
  nonisolated(unsafe) let certificates: [OpaquePointer]

  /// Reads all certificates of `source`; `nil` if it has none, or a damaged one.
  package init?(_ source: PEMSource) {
    var certificates: [OpaquePointer] = []
    let isWhole = source.read { input in
      while let certificate = entitled_tls_read_certificate(input) { certificates.append(certificate) }
      // The reader also stops at a certificate that it cannot decode.
      return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    }
    self.certificates = certificates
    guard !certificates.isEmpty, isWhole == true else { return nil }
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

  /// Reads the first private key of `source`; `nil` if it has none, or one with a passphrase.
  package init?(_ source: PEMSource) {
    guard let key = source.read({ entitled_tls_read_key($0) }) else { return nil }
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }
}
