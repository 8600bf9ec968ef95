internal import Callers
internal import HTTP
internal import RPC
internal import Telemetry

/// `GET /metrics` on the edge, in the Prometheus formats.
///
/// The numbers reveal how much an app sells, so the caller needs the role `read`, and a caller that is limited to some
/// apps gets only their samples: neither those of other apps nor those of the whole process.
package struct MetricsEndpoint: Sendable {
  private static let policy = MethodPolicy(path: "GET /metrics", role: .read)

  private let registry: MetricsRegistry
  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>

  init(
    registry: MetricsRegistry, chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  ) {
    self.registry = registry
    self.chain = chain
  }

  /// Nanoseconds of a monotonic clock.
  var ticks: Int64 { chain.ticks() }

  /// Responds in the format that `accept` prefers.
  ///
  /// - Returns: 405 for other methods, and a Connect error for a caller without the role.
  func respond(to request: HTTPRequest) -> HTTPResponse {
    guard ["GET", "HEAD"].contains(request.method) else { return .methodNotAllowed("GET, HEAD") }
    do throws(Status) {
      let started = try chain.start(Self.policy, CallContext(request))
      defer { started.end() }
      return text(for: started.call.caller, accept: request.header("accept"))
    } catch {
      return HTTPResponse(connectError: error)
    }
  }

  private func text(for caller: Caller?, accept: String?) -> HTTPResponse {
    let format = MetricsTextWriter.Format(accept: accept)
    let text = caller?.apps.map { registry.text(of: $0, as: format) } ?? registry.text(as: format)
    return HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", format.contentType)]), body: Array(text.utf8))
  }
}

extension MetricsRegistry {
  fileprivate func text(as format: MetricsTextWriter.Format) -> String {
    MetricsTextWriter.write(samples(), of: families, as: format)
  }

  /// The text of the samples that are labelled with one of these apps.
  fileprivate func text(of apps: Set<String>, as format: MetricsTextWriter.Format) -> String {
    let visible = samples().filter { sample in
      sample.labels.contains { $0.name == "app" && apps.contains($0.value) }
    }
    return MetricsTextWriter.write(
      visible, of: families.filter { $0.labels.contains("app") }, as: format)
  }
}
