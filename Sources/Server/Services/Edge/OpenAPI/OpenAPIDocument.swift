internal import Callers
internal import JSON
internal import RPC
internal import Wire

/// The OpenAPI 3.1 document of the edge: the methods of the contract from its descriptors, and the other routes.
struct OpenAPIDocument {
  /// The whole document. Its paths are the unary methods, which alone are served by Connect, and
  /// ``OpenAPIRoutes/paths``.
  let json: JSONObject

  init(version: String) {
    var schemas = JSONSchema()
    var paths = JSONObject()
    let methods = Contract.services.flatMap(\.methods).filter { !$0.clientStreaming && !$0.serverStreaming }
    // Requests first: a message that callers send has the stricter schema.
    for method in methods { _ = schemas.reference(to: method.requestType, asRequest: true) }
    var errors = OpenAPIMethodErrors()
    for method in methods {
      paths[method.fullName] = .object(Self.path(of: method, &schemas, errors.references(of: method)))
    }
    var responses = OpenAPIErrors.responses
    for (name, response) in errors.responses { responses[name] = response }
    for routes in [OpenAPIRoutes.paths, OpenAPIVerifyReceipt.paths] {
      for (path, item) in routes {
        paths[path] = .object(OpenAPIErrors.completed(path, item.objectValue ?? [:]))
      }
    }
    var definitions = schemas.definitions
    for (name, schema) in OpenAPIRoutes.schemas { definitions[name] = schema }
    for (name, schema) in OpenAPIDeviceSync.schemas { definitions[name] = schema }
    json = [
      "openapi": "3.1.0",
      "info": [
        "title": "entitled", "version": .string(version),
        "summary": "Verifies App Store purchases and returns the entitlements of customers.",
      ],
      "servers": [["url": "/"]],
      "security": [["bearer": []], ["certificate": []], [:]],
      "tags": .array(Self.tags(of: methods)),
      "paths": .object(paths),
      "components": [
        "schemas": .object(definitions), "responses": .object(responses),
        "securitySchemes": [
          "bearer": ["type": "http", "scheme": "bearer"],
          "certificate": ["type": "mutualTLS"],
        ],
      ],
    ]
  }

  /// A tag for each service, in the order of the contract, and those of the other routes.
  private static func tags(of methods: [MethodDescription]) -> [JSONValue] {
    var names: [String] = []
    for method in methods where !names.contains(method.service) { names.append(method.service) }
    return names.map { name in
      var tag: JSONObject = ["name": .string(name)]
      if let comment = FileDescriptors.comment(of: name) { tag["description"] = .string(comment) }
      return .object(tag)
    } + OpenAPIRoutes.tags
  }

  /// The operations of a method: POST, and GET without side effects.
  private static func path(
    of method: MethodDescription, _ schemas: inout JSONSchema,
    _ errors: [(status: String, reference: JSONValue)]
  ) -> JSONObject {
    let request = schemas.reference(to: method.requestType, asRequest: true)
    let response = schemas.reference(to: method.responseType, asRequest: false)
    var post = operation(method, response, errors)
    post["requestBody"] = [
      "required": true,
      "content": ["application/json": ["schema": request], "application/proto": ["schema": Self.bytes]],
    ]
    var item: JSONObject = ["post": .object(post)]
    if method.hasNoSideEffects {
      var get = operation(method, response, errors)
      get["operationId"] = .string("\(identifier(of: method))_get")
      get["parameters"] = .array(Self.queryParameters(request))
      item["get"] = .object(get)
    }
    return item
  }

  /// Messages as protobuf have no JSON schema.
  private static let bytes: JSONValue = ["type": "string", "contentMediaType": "application/proto"]

  /// `Service_Method`, which generators of clients turn into the name of a function.
  private static func identifier(of method: MethodDescription) -> String {
    "\(method.service.split(separator: ".").last ?? "")_\(method.name)"
  }

  /// One operation, described by the comment in the contract and the role that it needs.
  private static func operation(
    _ method: MethodDescription, _ response: JSONValue, _ errors: [(status: String, reference: JSONValue)]
  ) -> JSONObject {
    let path = method.fullName
    let comment = FileDescriptors.comment(of: "\(method.service).\(method.name)")
    let policy = MethodPolicy.of(path)
    let role = policy.role.map { "The caller needs the role `\($0.rawValue)`." }
    var operation: JSONObject = [
      "operationId": .string(identifier(of: method)), "tags": [.string(method.service)],
    ]
    let description = [comment, role].compactMap(\.self).joined(separator: " ")
    if !description.isEmpty { operation["description"] = .string(description) }
    if !policy.needsCaller { operation["security"] = [[:]] }
    var responses: JSONObject = [
      "200": [
        "description": "The response.",
        "content": ["application/json": ["schema": response], "application/proto": ["schema": Self.bytes]],
      ]
    ]
    for (status, reference) in errors { responses[status] = reference }
    operation["responses"] = .object(responses)
    return operation
  }

  /// The query of Connect's GET requests.
  private static func queryParameters(_ request: JSONValue) -> [JSONValue] {
    [
      [
        "name": "message", "in": "query", "required": true,
        "description": "The request; in base64url with `base64=1`.",
        "content": ["application/json": ["schema": request]],
      ],
      ["name": "encoding", "in": "query", "required": true, "schema": ["enum": ["json"]]],
      ["name": "connect", "in": "query", "schema": ["enum": ["v1"]]],
    ]
  }
}
