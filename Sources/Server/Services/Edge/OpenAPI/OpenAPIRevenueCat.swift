internal import JSON

/// The routes for leaving RevenueCat in the OpenAPI document.
enum OpenAPIRevenueCat {
  static let event: JSONObject = [
    "operationId": "receiveRevenueCatEvent", "tags": ["RevenueCat"], "security": [[:]],
    "description": """
    Receives RevenueCat's webhooks. The header `authorization` is the value that `revenuecat_events` configures. With a \
    `signing_secret`, the webhook is signed.
    """,
    "parameters": [
      ["name": "app", "in": "path", "required": true, "schema": ["type": "string"]],
      ["name": "X-RevenueCat-Webhook-Signature", "in": "header", "schema": ["type": "string"]],
    ],
    "requestBody": ["required": true, "content": ["application/json": ["schema": ["type": "object"]]]],
    "responses": .object(
      responses(
        [
          (200, "Stored, or left out because the app does not have the environment."),
          (400, "The body is not an event."),
          (401, "The header is not the configured value, or the signature is invalid."),
          (404, "There is no such app, or it receives no events."), (413, "The body is too large."),
          (415, "The content type is not JSON."),
          (429, "Too many refused posts of this address; `retry-after` says when to retry."),
          (503, "It could not be stored now; RevenueCat sends it again."),
        ], schema: OpenAPIErrors.explanation)),
  ]

  static let subscriber: JSONObject = [
    "operationId": "getSubscriber", "tags": ["RevenueCat"],
    "description":
      "A customer in the form of RevenueCat's REST API v1, with `subscriber_api`. The caller needs the role `read`.",
    "parameters": [
      ["name": "customer", "in": "path", "required": true, "schema": ["type": "string", "minLength": 1]],
      ["name": "app", "in": "query", "schema": ["type": "string"]],
      ["name": "X-Is-Sandbox", "in": "header", "schema": ["type": "string"]],
    ],
    "responses": .object(subscriberResponses),
  ]

  private static let subscriberResponses: JSONObject = {
    var found = responses(
      [
        (400, "The request is invalid."), (401, "The token is missing or unknown."),
        (403, "The caller lacks the role, or may not access the app."),
        (405, "Only GET is served; `allow` names it."),
        (429, "The limit of the caller, or of invalid tokens; `retry-after` says when to retry."),
        (500, "The service failed."), (503, "The service cannot answer now."),
        (504, "The answer took too long."),
      ], schema: error)
    found["200"] = OpenAPIErrors.response(
      "The customer.",
      [
        "type": "object", "required": ["request_date", "request_date_ms", "subscriber"],
        "properties": ["subscriber": ["type": "object"]],
      ])
    found["404"] = OpenAPIErrors.response(
      "There is no such app, or `subscriber_api` is off.", error, orText: true)
    return found
  }()

  private static let error: JSONValue = [
    "type": "object", "required": ["code", "message"],
    "properties": ["code": ["enum": [7110, 7225, 7226, 7243]], "message": ["type": "string"]],
  ]

  private static func responses(_ statuses: [(Int, String)], schema: JSONValue) -> JSONObject {
    var responses = JSONObject()
    for (status, description) in statuses {
      responses[String(status)] = OpenAPIErrors.response(description, schema, orText: status == 413)
    }
    return responses
  }
}
