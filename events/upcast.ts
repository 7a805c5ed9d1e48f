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
/** One text for one version: `v01` or `v1e0` is no version. */
const TYPE_PATTERN = /^(.+)\.v([1-9]\d{0,3})$/;

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
  const [, wire, digits] = TYPE_PATTERN.exec(type) ?? [];
  const name = wire === undefined ? undefined : NAME_BY_WIRE.get(wire);
  if (name === undefined) return { known: false, type };
  const version = Number(digits);
  const present = versions[name] ?? CATALOGUE[name].version;
  if (version > present) return { known: false, type };
  const lifts = (steps[name] ?? []).slice(version - 1, present - 1);
  if (lifts.length !== present - version)
    throw new Error(
      `${name} is at version ${present.toString()} and has no upcast from version ${version.toString()}.`,
    );
  return { known: true, name, data: lifts.reduce((value, step) => step(value), data) };
};
