internal import Foundation
internal import Transport

/// The text that `entitled serve` prints when it is ready: a line for machines, and the first calls for people.
struct StartupBanner {
  let listeners: Listeners
  let data: String

  func print() {
    Swift.print(line)
    if let sandbox = listeners.sandbox { Swift.print(firstCalls(sandbox.address)) }
    // A pipe is not flushed line by line, and its reader waits for this line.
    fflush(nil)
  }

  private var line: String {
    let sandbox = listeners.sandbox.map { $0.address.description } ?? "off"
    return
      "ready grpc=\(listeners.grpc.address) http=\(listeners.http.address) sandbox=\(sandbox) data=\(data)"
  }

  private func firstCalls(_ sandbox: HostAndPort) -> String {
    """

    gRPC                 \(listeners.grpc.address)
    JSON and health      http://\(listeners.http.address)
    sandbox App Store    http://\(sandbox)

    Try, in another terminal:

      entitled=\(CommandLine.arguments[0])
      $entitled sandbox buy pro.monthly --sandbox \(sandbox) > purchase.jws
      $entitled submit alice @purchase.jws --grpc \(listeners.grpc.address)
      $entitled check alice pro --grpc \(listeners.grpc.address)
    """
  }
}
