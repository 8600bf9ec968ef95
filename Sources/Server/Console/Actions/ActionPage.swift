internal import Bytes
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import SignedData
internal import Wire

/// The pages of an action: form, preview, confirmation. What is confirmed is what was shown: the token of a preview binds
/// the person, the action, its values and the state of its customers.
enum ActionPage {
  /// The form, filled in with the query.
  static func form(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let action = try action(name, visit)
    let definition = Action.named(action)
    var form = ActionForm(visit.query, fields: definition.fields, isSubmitted: false)
    for field in definition.fields where form[field.name].isEmpty { form[field.name] = field.initial }
    return try await edit(action, definition, ActionCall(form: form, scope: scope, visit: visit))
  }

  /// The form with the values of a call. An error with them is above the form, and at the field that it is about.
  private static func edit(
    _ action: ActionName, _ definition: Action, _ call: ActionCall, error: Status? = nil,
    notice: Markup = ""
  ) async throws(Status) -> Page {
    let isGrant = action == .grant || action == .makeGood
    let names = isGrant ? try await entitlements(call.scope, call.visit) : []
    let problem = error.flatMap { FieldProblem($0, in: definition.fields) }
    let form = ActionMarkup.form(
      action, definition.fields, call.form, call.scope, entitlements: names, problem: problem)
    // The advice about a field is shown at the field.
    let failure = error.map { Part.failure($0, hasAdvice: problem == nil) } ?? ""
    let subject = await ActionSubject.markup(action, definition, call)
    return page(action, call.scope, body: "\(failure)\(notice)\(subject)\(form)")
  }

  /// The preview, or the action after its confirmation.
  static func submit(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Outcome {
    let action = try action(name, visit)
    let definition = Action.named(action)
    let query = visit.form
    let form = ActionForm(query, fields: definition.fields, isSubmitted: true)
    let call = ActionCall(form: form, scope: scope, visit: visit)
    let token = query["token"]?.given
    if query["edit"] != nil { return .page(try await edit(action, definition, call)) }
    do throws(Status) {
      try check(form, definition.fields)
      if let token {
        let states = query.all("state").map { PercentEncoding.decode($0) }
        let binding = try await binding(action, call, states)
        if visit.tokens.accepts(token, for: visit.person, binding, at: visit.now) {
          return try await perform(action, definition, call, token)
        }
        // The action itself has changed its customers since.
        if let link = link(after: visit.performed.result(of: token), of: definition, call) {
          return .redirect(link)
        }
      }
      let preview = try await definition.preview(call)
      return .page(try await page(of: preview, action, definition, call, hasChanged: token != nil))
    } catch {
      let notice: Markup =
        definition.isInPieces && token != nil ? ActionMarkup.partlyDone(action, form, scope) : ""
      var page = try await edit(action, definition, call, error: error, notice: notice)
      page.status = error.code.httpStatus
      return .page(page)
    }
  }

  /// The action of a name, if the person may do it.
  private static func action(_ name: String, _ visit: Visit) throws(Status) -> ActionName {
    guard let action = ActionName(rawValue: name) else { throw .noSuchPage }
    guard action.isOpen(to: visit) else {
      throw Status(.permissionDenied, reason: "ROLE_MISSING", Text.mayNot(action.title))
    }
    return action
  }

  private static func check(_ form: ActionForm, _ fields: [ActionField]) throws(Status) {
    for field in fields where field.isRequired {
      // White space alone is typed by mistake.
      let value = field.isHidden ? form[field.name] : form[field.name].trimmed
      guard value.isEmpty else { continue }
      throw .field(field.name, Text.missing(field.label))
    }
  }

  private static func perform(
    _ action: ActionName, _ definition: Action, _ call: ActionCall, _ token: String
  ) async throws(Status) -> Outcome {
    if let link = link(after: call.visit.performed.begin(token), of: definition, call) {
      return .redirect(link)
    }
    var call = call
    call.key = Hex.encode(SHA256.hash(Array(token.utf8)[...]))
    do throws(Status) {
      let result = try await definition.perform(call)
      if let rest = result.rest {
        call.visit.performed.abandon(token)
        return .page(try await page(of: rest, action, call))
      }
      let link = destination(after: result, of: action, call)
      call.visit.performed.finish(token, link)
      return .redirect(link)
    } catch {
      call.visit.performed.abandon(token)
      throw error
    }
  }

  /// The page after a form that another request does or has done; `nil` if this one has to do it. A piece that another
  /// request is doing may be done again.
  private static func link(
    after decision: PerformedForms.Decision, of definition: Action, _ call: ActionCall
  ) -> Link? {
    guard case .done(let link) = decision, link != nil || !definition.isInPieces else { return nil }
    return link ?? call.form["customer"].given.map(call.scope.customer) ?? Link([])
  }

  /// The customer, or another page, with what was done.
  private static func destination(after result: ActionResult, of action: ActionName, _ call: ActionCall)
    -> Link
  {
    let receipt = ActionReceipt(
      action: action, text: result.text, undo: result.undo,
      customer: result.customer ?? call.form["customer"])
    let link = result.customer.map(call.scope.customer) ?? result.link ?? Link([])
    return link.adding(query: receipt.query(call.visit))
  }

  private static func page(
    of preview: ActionPreview, _ action: ActionName, _ definition: Action, _ call: ActionCall,
    hasChanged: Bool
  ) async throws(Status) -> Page {
    var call = call
    var form = call.form
    for (name, value) in preview.resolved { form[name] = value }
    call = ActionCall(form: form, scope: call.scope, visit: call.visit)
    let binding = try await binding(action, call, preview.customers)
    let token = call.visit.tokens.token(for: call.visit.person, binding, at: call.visit.now)
    var shown = preview
    shown.notices += ActionMarkup.outerSpaces(of: definition.fields, form)
    let body = ActionMarkup.preview(action, shown, form, call.scope, token: token, hasChanged: hasChanged)
    let subject = await ActionSubject.markup(action, definition, call)
    return page(action, call.scope, body: "\(subject)\(body)")
  }

  /// The progress, and the form that continues.
  private static func page(
    of rest: ActionRest, _ action: ActionName, _ call: ActionCall
  ) async throws(Status) -> Page {
    var form = call.form
    for (name, value) in rest.values { form[name] = value }
    let next = ActionCall(form: form, scope: call.scope, visit: call.visit)
    let binding = try await binding(action, next, [])
    let token = call.visit.tokens.token(for: call.visit.person, binding, at: call.visit.now)
    return page(action, call.scope, body: ActionMarkup.progress(action, rest, form, call.scope, token: token))
  }

  /// Returns the subject of a confirmation: the action, its values, and the last event of each customer.
  private static func binding(
    _ action: ActionName, _ call: ActionCall, _ customers: [String]
  ) async throws(Status) -> [String] {
    var binding =
      ["form", call.scope.app, call.scope.environment.slug, action.rawValue] + call.form.binding
    for customer in customers.prefix(20) {
      let response = try await call.visit.call(
        Calls.getCustomer,
        .about(customer, in: call.scope) {
          $0.readMask = .with { $0.paths = ["sequence"] }
        })
      binding += [customer, String(response.sequence)]
    }
    return binding
  }

  /// The entitlements of the app; empty if they cannot be read now: then their names are typed. An app that the person may
  /// not see is an error.
  private static func entitlements(_ scope: Scope, _ visit: Visit) async throws(Status) -> [String] {
    let catalog = await visit.attempt(
      Calls.getCatalog,
      .about(scope) {
        $0.pageSize = 1
      })
    switch catalog {
    case .success(let catalog): return catalog.entitlements.map(\.name)
    case .failure(let status) where status.code == .permissionDenied: throw status
    case .failure: return []
    }
  }

  private static func page(_ action: ActionName, _ scope: Scope, body: Markup) -> Page {
    Page(
      action.title, in: scope, section: action.isWork ? .work : .customers,
      body: "<h1>\(action.title)</h1>\n\(purpose(of: action))\(body)")
  }

  /// The purpose of an action for many customers.
  private static func purpose(of action: ActionName) -> Markup {
    switch action {
    case .makeGood: "<p>\(Text.makeGoodHint)</p>\n"
    case .extendAll: "<p>\(Text.extendAllHint)</p>\n"
    default: ""
    }
  }
}
