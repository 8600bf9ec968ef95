internal import JSON

/// The service as traces name it (OpenTelemetry semantic conventions, "Service").
package struct TraceResource: Hashable, Sendable {
  package let service: String
  package let version: String
  /// Differs between the processes of one service.
  package let instance: String

  package init(service: String, version: String, instance: String) {
    self.service = service
    self.version = version
    self.instance = instance
  }

  var attributes: [JSONValue] {
    [("service.name", service), ("service.version", version), ("service.instance.id", instance)].map {
      ["key": .string($0.0), "value": ["stringValue": .string($0.1)]]
    }
  }
}
