package import RPC

/// Why a call got no answer that can be used.
package enum ClientError: Error, Sendable {
  /// Nobody listens there, or the network is in between.
  case unreachable(address: String, reason: String)
  /// The connection ended before the answer had come.
  case connectionLost(address: String)
  /// The server answered with another status than OK.
  case failed(Status)
  /// The server is not a gRPC server, or a broken one.
  case notGRPC(String)
}

extension ClientError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreachable(let address, let reason): "cannot reach \(address): \(reason)"
    case .connectionLost(let address): "the connection to \(address) was lost"
    case .failed(let status): status.description
    case .notGRPC(let what): "that is not a gRPC server: \(what)"
    }
  }
}
