import { messageOf } from '../../../events/index.js';
import type { StoredEvent } from '../../../events/index.js';
import type { TrailEntry, TrailSlice } from '../../service/ledger.js';
import { balanceAnswer } from './account.js';

/** A body has its position once as a member of its own, before `data`: nothing that a caller wrote comes earlier. */
const POSITION = /"position":"([0-9]+)","partition":/;

/**
 * An event as JSON text: what stands on Kafka, with `position` as a number like every position of this interface. Built from the stored
 * text, so that nothing is parsed and written anew.
 */
export const eventText = (stored: StoredEvent): string =>
  messageOf(stored).replace(POSITION, '"position":$1,"partition":');

/** An event of an account's trail with the balance right after it, as one line of JSON text. */
export const trailEntryText = ({ stored, balanceAfter }: TrailEntry): string =>
  `${eventText(stored).slice(0, -1)},"balance_after":${JSON.stringify(balanceAnswer(balanceAfter))}}`;

/** A page of a trail as JSON text. */
export const trailText = ({ entries, next }: TrailSlice, cursorOf: (position: number) => string): string => {
  const cursor = next === undefined ? '' : `,"next_cursor":${JSON.stringify(cursorOf(next))}`;
  return `{"events":[${entries.map(trailEntryText).join(',')}]${cursor}}`;
};
