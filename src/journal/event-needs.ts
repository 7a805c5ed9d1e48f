import type { StoredEvent } from '../../events/index.js';
import { reservationKey } from '../core/state.js';
import { trailPostings } from '../core/trail-postings.js';
import { noNeeds } from './needs.js';
import type { Needs } from './needs.js';

/** Which rows given events change or build on. */
export const needsOfEvents = (events: readonly StoredEvent[]): Needs => {
  const needs = noNeeds();
  for (const { event } of events) {
    for (const { account } of trailPostings(event)) needs.accounts.add(account);
    if ('reservation_id' in event.data) {
      const id = { tenant: event.tenant, id: event.data.reservation_id };
      needs.reservations.set(reservationKey(id.tenant, id.id), id);
    }
    if ('model' in event.data && event.name !== 'Reserved') needs.models.add(event.data.model);
  }
  return needs;
};
