internal import CTLS

/// The settings that the TLS connections of a listener or client share.
package final class TLSContext: Sendable {
  // OpenSSL synchronizes the making of connections; nothing changes the settings after the initializer.
  nonisolated(unsafe) let pointer: OpaquePointer
  let isServer: Bool

  /// The settings of a server. It speaks the protocol of its preference that the client offers: HTTP/2, else HTTP/1.1.
  ///
  /// With `clientAuthorities`, a client may present a certificate of one of them, and need not.
  ///
  /// - Throws: ``TLSFailure`` if the key is not the certificate's, or OpenSSL rejects one of them, such as a short key.
  package init(
    server certificates: CertificateList, key: PrivateKey, clientAuthorities: CertificateList? = nil
  ) throws(TLSFailure) {
    pointer = try Self.make()
    isServer = true
    try present(certificates, key)
    entitled_tls_select_protocol(pointer)
    guard let clientAuthorities else { return }
    for authority in clientAuthorities.certificates {
      try Self.check(SSL_CTX_add_client_CA(pointer, authority))
    }
    try trust(clientAuthorities)
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    try Self.check(entitled_tls_verify_on_each_connection(pointer))
  }

  /// The settings of a client.
  ///
  /// - Parameters:
  ///   - authorities: The trusted authorities; `nil` selects those of the system.
  ///   - identity: The client's certificates, its own first, and their key.
  ///   - requiresTrust: Whether the handshake fails for a server whose certificate is not valid.
  ///   - offersHTTP2: Whether the client offers HTTP/2 with ALPN.
  /// - Throws: ``TLSFailure`` as for a server.
  package init(
    client authorities: CertificateList?, identity: (certificates: CertificateList, key: PrivateKey)? = nil,
    requiresTrust: Bool = true, offersHTTP2: Bool = false
  ) throws(TLSFailure) {
    pointer = try Self.make()
    isServer = false
    if let identity { try present(identity.certificates, identity.key) }
    if offersHTTP2 { try Self.check(entitled_tls_offer_http2(pointer)) }
    if let authorities {
      try trust(authorities)
    } else {
      try Self.check(SSL_CTX_set_default_verify_paths(pointer))
    }
    SSL_CTX_set_verify(pointer, requiresTrust ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
  }

  deinit { SSL_CTX_free(pointer) }

  private func present(_ list: CertificateList, _ key: PrivateKey) throws(TLSFailure) {
    try Self.check(SSL_CTX_use_certificate(pointer, list.certificates.first))
    for certificate in list.certificates.dropFirst() {
      try Self.check(entitled_tls_add_intermediate(pointer, certificate))
    }
    // OpenSSL accepts a key of another type than the certificate's, and each handshake fails then.
    try Self.check(X509_check_private_key(list.certificates.first, key.pointer))
    try Self.check(SSL_CTX_use_PrivateKey(pointer, key.pointer))
  }

  private func trust(_ authorities: CertificateList) throws(TLSFailure) {
    for authority in authorities.certificates {
      try Self.check(X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority))
    }
  }

  private static func make() throws(TLSFailure) -> OpaquePointer {
    guard let context = entitled_tls_context_new() else { throw TLSErrorQueue.take() }
    return context
  }

  /// Throws unless `result` is OpenSSL's 1 for success.
  static func check(_ result: CInt) throws(TLSFailure) {
    guard result == 1 else { throw TLSErrorQueue.take() }
  }
}
