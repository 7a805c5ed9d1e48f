import { AccountOpened } from './account.js';
import { Adjusted, Recharged } from './funding.js';
import { MaxCostRaised, MaxCostSet } from './model.js';
import { Extended, Finalized, Refunded, Reserved } from './reservation.js';

/** Every event there is, by name, at its present version. The name on the wire is `com.holdfast.<name in lower case>.v<version>`. */
export const CATALOGUE = {
  AccountOpened: { version: 1, wire: 'com.holdfast.accountopened', data: AccountOpened },
  Reserved: { version: 1, wire: 'com.holdfast.reserved', data: Reserved },
  Finalized: { version: 1, wire: 'com.holdfast.finalized', data: Finalized },
  Refunded: { version: 1, wire: 'com.holdfast.refunded', data: Refunded },
  Extended: { version: 1, wire: 'com.holdfast.extended', data: Extended },
  Recharged: { version: 1, wire: 'com.holdfast.recharged', data: Recharged },
  Adjusted: { version: 1, wire: 'com.holdfast.adjusted', data: Adjusted },
  MaxCostRaised: { version: 1, wire: 'com.holdfast.maxcostraised', data: MaxCostRaised },
  MaxCostSet: { version: 1, wire: 'com.holdfast.maxcostset', data: MaxCostSet },
} as const;

export type EventName = keyof typeof CATALOGUE;
export const EVENT_NAMES = Object.keys(CATALOGUE) as EventName[];

/** What an event says, apart from its envelope. */
export type EventPayload = {
  [N in EventName]: { readonly name: N; readonly data: (typeof CATALOGUE)[N]['data']['Type'] };
}[EventName];

export type DataOf<N extends EventName> = Extract<EventPayload, { name: N }>['data'];

/** The CloudEvents `type` under which an event of this name is written today. */
export const wireType = (name: EventName): string => WIRE_TYPES[name];

const WIRE_TYPES = Object.fromEntries(
  EVENT_NAMES.map((name) => [name, `${CATALOGUE[name].wire}.v${CATALOGUE[name].version}`]),
) as Record<EventName, string>;
