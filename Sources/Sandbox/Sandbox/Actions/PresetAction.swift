package import JSON

/// An action that a new world performs when it begins, such as an offer of a StoreKit configuration file.
package struct PresetAction: Hashable, Sendable {
  let action: Action
  let members: JSONObject

  package init(_ action: Action, _ members: JSONObject) {
    self.action = action
    self.members = members
  }
}
