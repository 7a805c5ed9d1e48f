import { EMPTY_BUCKETS } from '../../events/index.js';
import type { Buckets, LedgerEvent } from '../../events/index.js';

export interface TrailPosting extends Buckets {
  readonly account: string;
}

/**
 * What an event adds to each account whose trail it belongs to. That is its postings; and nothing, for the accounts of
 * an event that moves no amount but is about them all the same: one opened, or a reservation extended.
 */
export const trailPostings = (event: LedgerEvent): readonly TrailPosting[] => {
  if (event.name === 'AccountOpened') return [{ account: event.data.account, ...EMPTY_BUCKETS }];
  if (event.name === 'Extended') return event.data.accounts.map((account) => ({ account, ...EMPTY_BUCKETS }));
  return event.data.postings;
};
