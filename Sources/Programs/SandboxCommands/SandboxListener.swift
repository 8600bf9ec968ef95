package import Configuration
package import HTTP
package import Sandbox
internal import SandboxConsole
internal import SandboxPaths
package import Transport

/// The listener of a sandbox, which any client may call, but no web page besides its own ones.
package enum SandboxListener {
  /// A snapshot is larger than other bodies.
  private static let bodyBytes = 8 * 1_024 * 1_024

  /// Serves all worlds and their pages to clients that name one of the hosts of `policy`. `answers` are those of a service
  /// in the same process.
  package static func service(
    _ policy: OriginPolicy, _ worlds: SandboxWorlds, answers: (any ServiceAnswers)? = nil
  ) -> Listener.Service {
    let console = SandboxConsole(worlds.main, hosts: policy, answers: answers)
    var service = Listener.Service.plain { request in
      // The host comes first: a request under a rebound name creates no world.
      if let refusal = policy.refusalOfHost(request) ?? request.refusalOfEncoding { return refusal }
      guard let path = WorldPath(request.path) else { return .text(404, "invalid name of a world\n") }
      if let name = path.world, let refusal = policy.refusalOfSite(request), await !worlds.exists(name) {
        return refusal
      }
      if SandboxConsole.serves(path.rest) { return await page(request, path, console, worlds) }
      if let refusal = policy.refusalOfOrigin(request, allowsAnyContentType: allowsAnyContentType(request)) {
        return refusal
      }
      return await worlds.respond(to: request, in: path.world, at: path.rest)
    }
    service.limits.bodyBytes = bodyBytes
    return service
  }

  /// A page of the world that the path names, which is created if it does not exist.
  private static func page(
    _ request: HTTPRequest, _ path: WorldPath, _ console: SandboxConsole, _ worlds: SandboxWorlds
  ) async -> HTTPResponse {
    do throws(WorldError) {
      var inner = request
      inner.path = path.rest
      return await console.of(try await worlds.world(path.world), path.world).respond(to: inner)
    } catch {
      return .text(429, "\(error)\n")
    }
  }

  /// The hosts that a sandbox accepts: the configured ones, `hosts` and that of its address.
  package static func policy(
    _ configuration: ListenersConfiguration, hosts: [String], address: HostAndPort
  ) -> OriginPolicy {
    OriginPolicy(allowedHosts: configuration.sandboxHosts + hosts, address: address.host)
  }

  /// Backends send `verifyReceipt` with any content type, as Apple accepts it, and clients OCSP requests. Neither changes
  /// anything for a page.
  package static func allowsAnyContentType(_ request: HTTPRequest) -> Bool {
    request.path.split(separator: "/").contains { ["verifyReceipt", "ocsp"].contains($0) }
  }
}
