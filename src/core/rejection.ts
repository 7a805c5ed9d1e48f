/**
 * Why the ledger says no: a closed list. A rejection is an answer, not a fault; nothing changed.
 * The order is that of precedence: of several that apply, the first is given. What an id says already comes before what
 * the command would need if it were new, so that a replay gets its first answer whatever has changed since.
 * docs/ERRORS.md says of each what a caller should do.
 */
export type Rejection =
  /** The account exists, opened with something else in `field`. */
  | { readonly code: 'account_differs'; readonly account: string; readonly field: string }
  /** A finalize without a reservation used this id: it cannot be reserved any more. */
  | { readonly code: 'reservation_closed'; readonly id: string }
  /** The id (or reference) was used before with something else in `field`; `recorded` says what, where it is no secret. */
  | { readonly code: 'id_reused'; readonly id: string; readonly field: string; readonly recorded?: string }
  /** The reservation was finalized: it cannot be refunded or extended. */
  | { readonly code: 'reservation_finalized'; readonly id: string }
  /** The reservation was refunded: it cannot be finalized or extended. */
  | { readonly code: 'reservation_refunded'; readonly id: string; readonly reason: string }
  /** No reservation of this id exists in the tenant. */
  | { readonly code: 'reservation_not_found'; readonly id: string }
  /** An account named does not exist (or is another tenant's). */
  | { readonly code: 'account_not_found'; readonly account: string }
  /** The accounts named do not share a unit, so one amount cannot stand for all. */
  | { readonly code: 'unit_mismatch'; readonly units: readonly string[] }
  /** An amount is given in a unit that no account named has. */
  | { readonly code: 'unit_unknown'; readonly unit: string }
  /** An account's unit has no amount. */
  | { readonly code: 'amount_missing'; readonly unit: string }
  /** The hold would be the model's max_cost, and the model has none. */
  | { readonly code: 'max_cost_unknown'; readonly model: string; readonly unit: string }
  /** The account does not have it: `available` counts the overdraft that is allowed. */
  | {
      readonly code: 'insufficient_quota';
      readonly account: string;
      readonly unit: string;
      readonly available: bigint;
      readonly required: bigint;
    }
  /** A bucket would leave 64 bits. */
  | { readonly code: 'amount_overflow'; readonly account: string; readonly bucket: string };

export type RejectionCode = Rejection['code'];
