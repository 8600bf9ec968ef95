internal import COpenSSL

extension Certificate {
  /// Who certified it, such as `/CN=Apple Root CA - G3/O=Apple Inc./C=US`.
  package var issuer: String {
    guard let text = X509_NAME_oneline(X509_get_issuer_name(pointer), nil, 0) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
  }

  /// The SHA-256 of its DER: what people compare certificates by.
  package func fingerprint() -> [UInt8] { SHA256.hash(der[...]) }
}
