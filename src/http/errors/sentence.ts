import type { Rejection } from '../../core/rejection.js';

/** A rejection in a sentence, for people; programs read the code. */
export const sentenceOf = (rejection: Rejection): string => {
  switch (rejection.code) {
    case 'account_not_found':
      return `There is no account ${rejection.account}.`;
    case 'account_differs':
      return `The account ${rejection.account} exists, with another ${rejection.field}.`;
    case 'reservation_not_found':
      return `There is no reservation ${rejection.id}.`;
    case 'id_reused': {
      const recorded = rejection.recorded === undefined ? '' : `: ${rejection.recorded} is recorded`;
      return `The id ${rejection.id} was used before with another ${rejection.field}${recorded}.`;
    }
    case 'reservation_finalized':
      return `The reservation ${rejection.id} is finalized and can not be refunded or extended.`;
    case 'reservation_refunded':
      return `The reservation ${rejection.id} was refunded (${rejection.reason}) and can not be finalized or extended.`;
    case 'reservation_closed':
      return `The id ${rejection.id} was used by a finalize without reservation and can not be reserved any more.`;
    case 'unit_mismatch':
      return `One amount can not stand for accounts in ${rejection.units.join(', ')}; give amounts by unit.`;
    case 'amount_missing':
      return `No amount is given in ${rejection.unit}.`;
    case 'unit_unknown':
      return `An amount is given in ${rejection.unit}, but no account named has that unit.`;
    case 'max_cost_unknown':
      return `The model ${rejection.model} has no max_cost in ${rejection.unit}: give an amount, or set one by PUT /v1/models/{id}/max-cost, \`holdfast models set\` or \`holdfast models seed --from-usage\`.`;
    case 'insufficient_quota':
      return `The account ${rejection.account} has ${rejection.available.toString()} ${rejection.unit} and needs ${rejection.required.toString()}.`;
    case 'amount_overflow':
      return `The bucket ${rejection.bucket} of ${rejection.account} would leave 64 bits.`;
  }
};
