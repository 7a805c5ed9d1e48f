import { CATALOGUE, EVENT_NAMES } from './catalogue.js';
import type { EventName } from './catalogue.js';

/** Encoded event data: amounts are decimal strings. */
export type EncodedData = Readonly<Record<string, unknown>>;
/** Turns the data of one version into the next one's. */
export type Upcast = (data: EncodedData) => EncodedData;
/** For each event, the steps from version 1 to 2, 2 to 3 … in order. */
export type UpcastSteps = Readonly<Partial<Record<EventName, readonly Upcast[]>>>;

/** No event has had a second version yet. */
export const UPCASTS: UpcastSteps = {};

export type TypeRead =
  | { readonly known: true; readonly name: EventName; readonly data: EncodedData }
  | { readonly known: false; readonly type: string };

const NAME_BY_WIRE = new Map<string, EventName>(EVENT_NAMES.map((name) => [CATALOGUE[name].wire, name]));

/**
 * Finds an event by its wire type and lifts its data to the present version.
 * Not known: a type that this program has never heard of, or a version later than its own; a projector stops there.
 */
export const readType = (
  type: string,
  data: EncodedData,
  steps: UpcastSteps = UPCASTS,
  versions: Readonly<Partial<Record<EventName, number>>> = {},
): TypeRead => {
  const dot = type.lastIndexOf('.v');
  const name = NAME_BY_WIRE.get(type.slice(0, dot));
  const version = Number(type.slice(dot + 2));
  if (name === undefined || dot === -1) return { known: false, type };
  const present = versions[name] ?? CATALOGUE[name].version;
  if (!Number.isInteger(version) || version < 1 || version > present) return { known: false, type };
  const lifted = (steps[name] ?? []).slice(version - 1, present - 1).reduce((value, step) => step(value), data);
  return { known: true, name, data: lifted };
};
