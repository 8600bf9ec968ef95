internal import NIOCore
internal import NIOSSL

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
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: configuration), serverHostname: serverName)
  }
}
