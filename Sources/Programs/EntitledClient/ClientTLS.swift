internal import NIOCore
internal import NIOSSL

/// How a client makes sure of its server, and identifies itself: files in PEM.
package struct ClientTLS: Hashable, Sendable {
  /// The authorities that are believed; `nil`: those of the system.
  package var authorities: String?
  /// The client's own certificate and its key; `nil`: none is shown.
  package var certificate: String?
  package var key: String?
  /// The name that the server's certificate must have.
  package var serverName: String

  package init(
    authorities: String? = nil, certificate: String? = nil, key: String? = nil, serverName: String
  ) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
    self.serverName = serverName
  }

  /// What a connection needs in front of HTTP/2.
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
