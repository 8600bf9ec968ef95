internal import CTLS

/// The server that a client connects to, as its certificate names it.
package enum TLSHost: Hashable, Sendable {
  case name(String)
  /// An address of IP in text.
  case address(String)
}

extension TLSEngine {
  /// The protocol that ALPN selected.
  var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(tls, &name, &count)
    return count == 0
      ? nil : String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// The certificates that the server presented, its own first, in DER.
  var presentedChain: [[UInt8]] {
    (0..<entitled_tls_chain_count(tls)).compactMap { index in
      var bytes: UnsafeMutablePointer<UInt8>?
      let count = i2d_X509(entitled_tls_chain_at(tls, index), &bytes)
      defer { entitled_tls_free(bytes) }
      return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: Int(count))) : nil
    }
  }

  /// The hosts, URIs and mailboxes in the certificate that the client presented, in its order; `nil` if it has none.
  ///
  /// The handshake fails for a certificate that is not valid.
  var clientNames: [String]? {
    guard let certificate = SSL_get0_peer_certificate(tls) else { return nil }
    guard let names = entitled_tls_names(certificate) else { return [] }
    defer { GENERAL_NAMES_free(names) }
    return (0..<entitled_tls_names_count(names)).compactMap { index in
      guard let text = entitled_tls_name_at(names, index) else { return nil }
      return String(
        decoding: UnsafeBufferPointer(
          start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text))),
        as: UTF8.self)
    }
  }
}
