internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One action: its form, what it would do, and doing it.
///
/// A person fills the form in, sees the preview, and confirms it (``ActionPage``). `preview` therefore changes nothing:
/// it makes a dry run where the contract has one, and reads otherwise. `perform` runs for a confirmed form, with an
/// idempotency key, and returns the action that undoes it.
struct Action: Sendable {
  /// The fields of the form in their order. Others are not read.
  let fields: [ActionField]
  /// Whether doing it takes several requests. Each of them may be repeated.
  var isInPieces = false
  /// Returns what the action would do, without doing it.
  let preview: @Sendable (ActionCall) async throws(Status) -> ActionPreview
  /// Does it.
  let perform: @Sendable (ActionCall) async throws(Status) -> ActionResult

  /// Returns the action of a name. The names are in addresses, and the actions are not.
  static func named(_ name: ActionName) -> Action {
    switch name {
    case .grant: .grant
    case .revoke: .revoke
    case .link: .link
    case .transfer: .transfer
    case .merge: .merge
    case .undo: .undo
    case .refresh: .refresh
    case .extend: .extend
    case .erase: .erase
    case .answerRefund: .answerRefund
    case .addNote: .addNote
    case .deleteNote: .deleteNote
    case .setAttribute: .setAttribute
    case .lookUpOrder: .lookUpOrder
    case .resend: .resend
    case .discard: .discard
    case .resumeWebhook: .resumeWebhook
    case .makeGood: .makeGood
    case .undoBatch: .undoBatch
    case .extendAll: .extendAll
    case .consent: .consent
    case .setToken: .setToken
    case .settleConsent: .settleConsent
    case .reprocess: .reprocess
    case .backfill: .backfill
    case .cancelMigration: .cancelMigration
    }
  }
}

/// A field of a form.
struct ActionField: Sendable {
  /// The control that a field has in the form.
  enum Kind: Sendable {
    case text
    case paragraph
    /// Many lines, which a file may fill in.
    case lines
    case hidden
    case check
    case choice([(value: String, label: String)])
  }

  /// The name in the form and in ``ActionForm``; ``FieldProblem`` finds the field of an error by it.
  let name: String
  /// The text at the control.
  let label: String
  var kind: Kind = .text
  /// The text under the control; empty: none.
  var hint = ""
  /// Whether an empty value is an error of the form, before the service is called.
  var isRequired = true
  /// The value of an empty form.
  var initial = ""
  /// Whether white space at the ends of a typed value belongs to it, as to the id of a customer.
  var keepsWhiteSpace = false

  /// The reason, which is stored with the command.
  static let note = ActionField(
    name: "note", label: Text.reasonLabel, kind: .paragraph, hint: Text.reasonHint)
  /// The customer of the action.
  static let customer = customerID("customer", Text.customer)
  /// The purchase, by its original transaction id.
  static let purchase = ActionField(name: "purchase", label: Text.originalTransactionID)

  /// The id of a customer.
  static func customerID(_ name: String, _ label: String, hint: String = "") -> ActionField {
    ActionField(name: name, label: label, hint: hint, keepsWhiteSpace: true)
  }

  var isHidden: Bool {
    if case .hidden = kind { true } else { false }
  }

  /// Whether its values are used as they are. Others are trimmed.
  var isExact: Bool {
    switch kind {
    case .hidden, .lines: true
    case .text, .paragraph, .check, .choice: keepsWhiteSpace
    }
  }

  /// A field that a link or a page fills in, and that is required.
  static func hidden(_ name: String) -> ActionField { ActionField(name: name, label: name, kind: .hidden) }
}

/// A form with what is needed to preview or perform its action.
struct ActionCall: Sendable {
  /// The values that the person has entered, and those of the preview.
  let form: ActionForm
  /// The app and environment in the address of the form.
  let scope: Scope
  /// The request of the form, which calls as the person.
  let visit: Visit
  /// The key under which the service does the action once.
  var key = ""

  /// The name of the person, for `actor` of the requests.
  var actor: String { visit.person.name }
  /// The reason, for `note` of the requests.
  var note: String { form["note"] }

  /// Creates a request that changes something in the scope of the form, with the actor, note and key of the audit trail.
  /// A dry run has no key. `build` sets the further fields.
  func change<Request: ChangeRequest>(
    isDryRun: Bool = false, _ build: (inout Request) -> Void
  ) -> Request {
    .about(scope) {
      $0.actor = actor
      $0.note = note
      $0.idempotencyKey = isDryRun ? "" : key
      build(&$0)
    }
  }
}

/// The effects that an action would have.
struct ActionPreview: Sendable {
  /// Sentences about the effects.
  var lines: [String] = []
  /// The events that it would cause; `nil`: no dry run shows them.
  var events: [EntitlementEvent]?
  /// What the person should look at before the confirmation.
  var notices: [Markup] = []
  /// The request that would be sent to Apple.
  var payload = ""
  /// The customers whose state the preview rests on.
  var customers: [String] = []
  /// Values that the preview has computed and that are part of the action.
  var resolved: [String: String] = [:]
}

/// The result of an action.
struct ActionResult: Sendable {
  /// The customer to show; `nil`: the page of `link`.
  var customer: String?
  /// The page to show without a customer.
  var link: Link?
  /// The action that undoes this one, with its values.
  var undo: ActionReceipt.Undo?
  /// The result in words, for the page that follows.
  var text = ""
  /// The rest for another request; `nil`: everything is done.
  var rest: ActionRest?
}

/// The rest of an action that takes several requests.
struct ActionRest: Sendable {
  /// The values of hidden fields from which the next request continues.
  let values: [String: String]
  /// The number of items that are done, for the progress bar.
  let done: Int
  /// The number of items in all.
  let total: Int
}

extension Status {
  /// A field that is not filled in correctly.
  static func field(_ name: String, _ message: String) -> Status {
    Status(.invalidArgument, reason: "INVALID_FIELD", message, field: name)
  }
}
