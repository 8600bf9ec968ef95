package import Tracing

/// Runs `body` as a span within the recorded span of the current task. Without one it runs `body` alone, with `nil`.
/// The span ends with `body`; an error of `body` marks it as failed.
package func traced<Value: Sendable, Failure: Error>(
  _ name: String, _ kind: SpanKind = .internal, attributes: @autoclosure () -> SpanAttributes = [:],
  _ body: (RecordedSpan?) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  guard let span = ServiceContext.current?.span?.child(name, kind) else { return try await body(nil) }
  span.attributes = attributes()
  return try await span.run(body)
}

/// As ``traced(_:_:attributes:_:)``. Outside of a call it starts a new trace, which the ratio samples.
package func tracedAsRoot<Value: Sendable, Failure: Error>(
  _ name: String, _ kind: SpanKind = .internal, attributes: @autoclosure () -> SpanAttributes = [:],
  _ body: (RecordedSpan?) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  guard TraceContext.current == nil, let tracer = RecordingTracer.installed else {
    return try await traced(name, kind, attributes: attributes(), body)
  }
  let span = tracer.startCall(name, kind, continuing: nil)
  if span.isRecording { span.attributes = attributes() }
  return try await span.run(body)
}

/// As ``traced(_:_:attributes:_:)`` for code that does not suspend.
package func tracedInline<Value, Failure: Error>(
  _ name: String, attributes: @autoclosure () -> SpanAttributes = [:], _ body: () throws(Failure) -> Value
) throws(Failure) -> Value {
  guard let span = ServiceContext.current?.span?.child(name, .internal) else { return try body() }
  span.attributes = attributes()
  defer { span.end() }
  do throws(Failure) {
    return try body()
  } catch {
    span.fail(error)
    throw error
  }
}

extension RecordedSpan {
  /// Runs `body` within the span, and ends it.
  package func run<Value: Sendable, Failure: Error>(
    _ body: (RecordedSpan?) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await ServiceContext.$current.withValue(context) {
      do throws(Failure) {
        return .success(try await body(isRecording ? self : nil))
      } catch {
        fail(error)
        return .failure(error)
      }
    }
    end()
    return try result.get()
  }
}
