internal import NIOCore
internal import Platform
internal import TLS

/// The TLS settings of a client. All files are PEM.
package struct ClientTLS: Hashable, Sendable {
  /// The trusted authorities; `nil` selects those of the system.
  package var authorities: String?
  /// The client certificate; `nil` if the client has none.
  package var certificate: String?
  /// The private key of ``certificate``, set if and only if that is.
  package var key: String?
  /// The name that the server's certificate must contain.
  package var serverName: String

  /// Creates settings; files are read when a connection is made.
  package init(
    authorities: String? = nil, certificate: String? = nil, key: String? = nil, serverName: String
  ) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
    self.serverName = serverName
  }

  /// Returns the channel handler for TLS with ALPN `h2`. It reads the files of certificates and keys.
  ///
  /// - Throws: ``TLSFailure`` for a file that cannot be read or has other content.
  func makeHandler() throws -> TLSHandler {
    let context = try TLSContext(
      client: try authorities.map { try Self.certificates(in: $0) }, identity: try identity(),
      offersHTTP2: true)
    let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
    return try TLSHandler(client: context, host: isAddress ? .address(serverName) : .name(serverName))
  }

  /// The certificate of the client with its key; `nil` if none is set.
  private func identity() throws -> (certificates: CertificateList, key: PrivateKey)? {
    guard let certificate, let key else { return nil }
    guard let privateKey = PrivateKey(.file(key)) else {
      throw TLSFailure.failed(reason: "\(key) has no private key in PEM without a passphrase")
    }
    return (try Self.certificates(in: certificate), privateKey)
  }

  /// The certificates in a file.
  private static func certificates(in file: String) throws -> CertificateList {
    guard let list = CertificateList(.file(file)) else {
      throw TLSFailure.failed(reason: "\(file) has no certificate in PEM")
    }
    return list
  }

  /// The text of an error of a connection.
  static func reason(of error: any Error) -> String {
    if let error = error as? IOError { return SystemError.text(error.errnoCode) }
    return switch error as? TLSFailure {
    case .otherName: "the server's certificate is for another host name"
    case .untrusted: "the server's certificate is not valid for the trusted authorities; set --tls-ca"
    case .notTLS: "the server does not use TLS; leave out --tls"
    default: "\(error)"
    }
  }
}
