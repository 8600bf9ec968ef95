/// What a listener needs to speak TLS: files, which are read again when they change.
package struct TLSSettings: Hashable, Sendable {
  /// The server's certificate in PEM, with those between it and its root behind it.
  package let certificate: String
  /// The private key of the certificate, in PEM.
  package let key: String
  /// Authorities in PEM whose certificates callers may identify themselves with; `nil`: nobody is asked for one.
  package let clientAuthorities: String?

  package init(certificate: String, key: String, clientAuthorities: String? = nil) {
    self.certificate = certificate
    self.key = key
    self.clientAuthorities = clientAuthorities
  }
}

/// Why TLS cannot be had with these files.
package enum TLSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A file is not there, or holds something else; `reason` is the library's.
  case unusable(file: String, reason: String)
  /// The key is not that of the certificate, or TLS refuses one of them.
  case refused(certificate: String, reason: String)

  package var description: String {
    switch self {
    case .unusable(let file, let reason): "cannot use \(file) for TLS: \(reason)"
    case .refused(let certificate, let reason):
      "TLS does not work with the certificate \(certificate) and its key: \(reason)"
    }
  }
}
