internal import NIOCore
internal import NIOSSL
internal import Platform

/// The TLS settings of a client. All files are PEM.
package struct ClientTLS: Hashable, Sendable {
  /// The trusted authorities; `nil` selects those of the system.
  package var authorities: String?
  /// The client certificate and its key; `nil` if the client has none.
  package var certificate: String?
  package var key: String?
  /// The name that the server's certificate must contain.
  package var serverName: String

  package init(
    authorities: String? = nil, certificate: String? = nil, key: String? = nil, serverName: String
  ) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
    self.serverName = serverName
  }

  /// Returns the channel handler for TLS with ALPN `h2`.
  func makeHandler() throws -> NIOSSLClientHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    if let authorities { configuration.trustRoots = .file(authorities) }
    if let certificate, let key {
      configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
      configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
    }
    // The extension for the name takes no addresses (RFC 6066, section 3). The certificate must contain the address then.
    let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: configuration), serverHostname: isAddress ? nil : serverName)
  }

  /// The text of an error of a connection.
  static func reason(of error: any Error) -> String {
    if let error = error as? IOError { return SystemError.text(error.errnoCode) }
    if (error as? NIOSSLExtraError) == .failedToValidateHostname {
      return "the server's certificate is for another host name"
    }
    // The library's errors have names in their text only.
    let text = "\(error)"
    if text.contains("CERTIFICATE_VERIFY_FAILED") {
      return "the server's certificate is not valid for the trusted authorities; set --tls-ca"
    }
    return text.contains("WRONG_VERSION_NUMBER") ? "the server does not use TLS; leave out --tls" : text
  }
}
