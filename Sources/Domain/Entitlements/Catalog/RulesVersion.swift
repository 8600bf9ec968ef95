/// Which edition of the rules this program has.
///
/// Answers that were worked out in advance are believed only under the edition that made them. Raise it
/// with every change after which ``evaluate(_:entitlement:in:at:)`` may answer the same question about
/// the same facts differently; a test notices when that was forgotten.
package let rulesVersion: UInt64 = 4
