internal import Foundation
internal import Transport

/// The listening sockets that whoever started this process made for it (systemd's socket activation: `LISTEN_PID`,
/// `LISTEN_FDS`, `LISTEN_FDNAMES`; see `sd_listen_fds(3)`).
///
/// They stay open while the service is restarted: clients that connect meanwhile wait, and nobody is refused.
struct InheritedSockets: Sendable {
  private var sockets: [String: InheritedSocket] = [:]

  /// The port of gRPC; `nil`: the service opens it itself.
  var grpc: InheritedSocket? { sockets["grpc"] }
  /// The port of the edge.
  var http: InheritedSocket? { sockets["http"] }

  /// Takes those of the environment; none if they are another process's.
  init() throws {
    guard ServerOption.environment("LISTEN_PID") == "\(getpid())",
      let count = ServerOption.environment("LISTEN_FDS").flatMap(CInt.init)
    else { return }
    let names = (ServerOption.environment("LISTEN_FDNAMES") ?? "").split(
      separator: ":", omittingEmptySubsequences: false)
    guard names.count == Int(count) else {
      throw Failure("LISTEN_FDS says \(count) sockets and LISTEN_FDNAMES has \(names.count) names")
    }
    for (name, descriptor) in zip(names, Self.firstDescriptor...) {
      guard ["grpc", "http"].contains(name) else {
        throw Failure("an inherited socket is named '\(name)'; FileDescriptorName= is 'grpc' or 'http'")
      }
      guard let socket = InheritedSocket(descriptor: descriptor) else {
        throw Failure("the inherited socket '\(name)' (descriptor \(descriptor)) does not listen on TCP")
      }
      guard sockets.updateValue(socket, forKey: String(name)) == nil else {
        throw Failure("there are two inherited sockets named '\(name)'; a port has one")
      }
    }
  }

  /// systemd's SD_LISTEN_FDS_START.
  private static let firstDescriptor: CInt = 3
}
