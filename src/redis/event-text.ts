import { AMOUNT_MAX } from '../../events/index.js';
import type { Posting, StoredEvent } from '../../events/index.js';
import type { Account, MaxCost } from '../core/state.js';
import { segmentOf } from './record.js';

/** How far an amount is from the largest one: lets Lua check a sum's range by comparing, since it can't add. */
export const roomOf = (amount: bigint): string => (AMOUNT_MAX - amount).toString();

/** What a reservation takes: lua/include/taken.lua. */
const takenText = (postings: readonly Posting[]): string =>
  postings.map((p) => `${p.account}=${p.unit}=${p.held.toString()}`).join(',');

const postingsText = (postings: readonly Posting[]): string =>
  postings.length === 0
    ? '-'
    : postings
        .map(
          (p) =>
            `${p.account}=${p.available.toString()}=${p.held.toString()}=${p.used.toString()}=${p.funded.toString()}`,
        )
        .join(',');

type AccountRow = Pick<Account, 'unit' | 'overdraftLimit' | 'exempt' | 'available' | 'held' | 'used' | 'funded'>;

/** An account as lua/include/open_account.lua reads it. An exempt account has no overdraft: nothing refuses it. */
export const accountText = (a: AccountRow): string => {
  const spendable = a.available + a.overdraftLimit;
  return [a.unit, a.overdraftLimit, a.exempt ? '1' : '0', spendable, a.held, a.used, a.funded].map(String).join('|');
};

/** A model's max_cost as a field and its copy: lua/include/put_max_cost.lua. */
export const maxCostText = ({ model, unit, amount, revision }: Omit<MaxCost, 'pending'>) => ({
  field: `${model}=${unit}`,
  revision: revision.toString(),
  amount: amount.toString(),
  room: roomOf(amount),
});

const costText = (data: Omit<MaxCost, 'pending'>): string => {
  const { field, revision, amount, room } = maxCostText(data);
  return `${field}=${revision}=${amount}=${room}`;
};

const wordsOf = (stored: StoredEvent): readonly [verb: string, id: string, segment: string, rest: string] => {
  const { event } = stored;
  const segment = segmentOf(stored) ?? '-';
  switch (event.name) {
    case 'Reserved':
      return ['reserve', `${event.tenant}/${event.data.reservation_id}`, segment, takenText(event.data.postings)];
    case 'Finalized':
    case 'Refunded':
      return ['close', `${event.tenant}/${event.data.reservation_id}`, segment, postingsText(event.data.postings)];
    case 'Extended':
      return ['note', `${event.tenant}/${event.data.reservation_id}`, segment, '-'];
    case 'Recharged':
    case 'Adjusted':
      return ['post', '-', '-', postingsText(event.data.postings)];
    case 'AccountOpened': {
      const { account, unit, overdraft_limit: overdraftLimit, exempt } = event.data;
      const row = { unit, overdraftLimit, exempt, available: 0n, held: 0n, used: 0n, funded: 0n };
      return ['open', account, accountText(row), '-'];
    }
    case 'MaxCostRaised':
      return ['model', `${event.tenant}/${event.data.reservation_id}`, segment, costText(event.data)];
    case 'MaxCostSet':
      return ['model', '-', '-', costText(event.data)];
  }
};

/** An event as lua/apply.lua reads it: `hash verb id segment rest`. */
export const eventText = (stored: StoredEvent): string => `${stored.hash} ${wordsOf(stored).join(' ')}`;
