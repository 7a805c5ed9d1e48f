import type { DataOf, Level, StoredEvent, UnitAmount } from '../../events/index.js';
import type { Reservation } from '../core/state.js';

/*
 * A record: what Redis remembers of a reservation, as a text that only this file reads. It is a small log of its own:
 * segments joined by ";", each of which begins with a letter (lua/include/record.lua appends them as events are applied):
 *   o position | expires ms | level | ttl s | model | accounts | held | requested | has metadata
 *   c position | expires ms | model | accounts | cost | late | has metadata        a finalize with no reservation before
 *   x expires ms      f position | late | cost      r position | reason      m unit=amount
 * Accounts are account=unit, amounts unit=amount, both joined by ",". Ids hold none of these characters. Metadata is not
 * kept: the journal answers for a reservation that has some.
 */

const amountsText = (amounts: readonly UnitAmount[]): string =>
  amounts.map(({ unit, amount }) => `${unit}=${amount.toString()}`).join(',');
const accountsText = (accounts: Reservation['accounts']): string =>
  accounts.map(({ account, unit }) => `${account}=${unit}`).join(',');
const flag = (value: boolean): string => (value ? '1' : '0');

type Opened = Pick<
  Reservation,
  'position' | 'expiresAtMs' | 'level' | 'ttlSeconds' | 'accounts' | 'held' | 'requested'
> & { readonly model?: string | undefined; readonly metadata?: unknown };

const openedSegment = (r: Opened): string =>
  `o${[
    r.position,
    r.expiresAtMs,
    r.level,
    r.ttlSeconds,
    r.model ?? '',
    accountsText(r.accounts),
    amountsText(r.held),
    amountsText(r.requested),
    flag(r.metadata !== undefined),
  ].join('|')}`;

type Cold = Pick<Reservation, 'position' | 'expiresAtMs' | 'accounts'> & {
  readonly model?: string | undefined;
  readonly cost: readonly UnitAmount[];
  readonly late: boolean;
  readonly metadata?: unknown;
};

const coldSegment = (r: Cold): string =>
  `c${[
    r.position,
    r.expiresAtMs,
    r.model ?? '',
    accountsText(r.accounts),
    amountsText(r.cost),
    flag(r.late),
    flag(r.metadata !== undefined),
  ].join('|')}`;

const finalizedSegment = (position: number, late: boolean, cost: readonly UnitAmount[]): string =>
  `f${position.toString()}|${flag(late)}|${amountsText(cost)}`;

const perUnit = (data: DataOf<'Reserved' | 'Finalized'>, bucket: 'held' | 'used'): UnitAmount[] =>
  [...new Map(data.postings.map((p) => [p.unit, p[bucket]]))].map(([unit, amount]) => ({ unit, amount }));

const reservedSegment = ({ position }: StoredEvent['event'], data: DataOf<'Reserved'>): string =>
  openedSegment({
    position,
    expiresAtMs: Date.parse(data.expires_at),
    level: data.level,
    ttlSeconds: data.ttl_seconds,
    model: data.model,
    accounts: data.postings,
    held: perUnit(data, 'held'),
    requested: data.requested,
    metadata: data.metadata,
  });

const closingSegment = ({ position, timeMs }: StoredEvent['event'], data: DataOf<'Finalized'>): string => {
  const cost = perUnit(data, 'used');
  if (!data.cold) return finalizedSegment(position, data.late, cost);
  const { model, late, metadata, postings: accounts } = data;
  return coldSegment({ position, expiresAtMs: timeMs, model, accounts, cost, late, metadata });
};

/** The segment that an event adds to its reservation's record; undefined for an event of no reservation. */
export const segmentOf = ({ event }: StoredEvent): string | undefined => {
  switch (event.name) {
    case 'Reserved':
      return reservedSegment(event, event.data);
    case 'Finalized':
      return closingSegment(event, event.data);
    case 'Refunded':
      return `r${event.position.toString()}|${event.data.reason}`;
    case 'Extended':
      return `x${Date.parse(event.data.expires_at).toString()}`;
    case 'MaxCostRaised':
      return `m${event.data.unit}=${event.data.amount.toString()}`;
    case 'AccountOpened':
    case 'Recharged':
    case 'Adjusted':
    case 'MaxCostSet':
      return undefined;
  }
};

/** The record of a reservation as the journal knows it: the same as its events would have made. */
export const recordOf = (r: Reservation): string => {
  const closed = r.closedPosition ?? r.position;
  const segments = [r.opened ? openedSegment(r) : coldSegment({ ...r, cost: r.cost ?? [], late: r.late === true })];
  if (r.reason !== undefined) segments.push(`r${closed.toString()}|${r.reason}`);
  if (r.opened && r.state === 'finalized') segments.push(finalizedSegment(closed, r.late === true, r.cost ?? []));
  for (const raised of r.raised ?? []) segments.push(`m${amountsText([raised])}`);
  return segments.join(';');
};

const pairs = (text: string): [string, string][] =>
  text === ''
    ? []
    : text.split(',').map((item) => {
        const [name, value] = item.split('=');
        if (name === undefined || value === undefined) throw new Error(`A record in Redis holds "${item}".`);
        return [name, value];
      });

const readAmounts = (text = ''): UnitAmount[] =>
  pairs(text).map(([unit, amount]) => ({ unit, amount: BigInt(amount) }));
const readAccounts = (text = ''): Reservation['accounts'] => pairs(text).map(([account, unit]) => ({ account, unit }));

interface Read {
  readonly reservation: Reservation;
  /** It has metadata, which Redis does not keep. */
  readonly partial: boolean;
}

const readFirst = (kind: string, fields: readonly string[], name: { tenant: string; id: string }): Read => {
  const cold = kind === 'c';
  const [position, expires, ...rest] = fields;
  const [level, ttl, model, accounts, held, requested, metadata] = cold
    ? ['durable', '0', rest[0], rest[1], '', '', rest[4]]
    : rest;
  const reservation: Reservation = {
    ...name,
    state: cold ? 'finalized' : 'open',
    opened: !cold,
    accounts: readAccounts(accounts),
    held: readAmounts(held),
    requested: readAmounts(requested),
    ...(model === undefined || model === '' ? {} : { model }),
    ttlSeconds: Number(ttl),
    level: level as Level,
    expiresAtMs: Number(expires),
    position: Number(position),
    ...(cold ? { closedPosition: Number(position), cost: readAmounts(rest[2]), late: rest[3] === '1' } : {}),
  };
  return { reservation, partial: metadata === '1' };
};

const readNext = (
  r: Reservation,
  kind: string,
  [first = '', second = '', third = '']: readonly string[],
): Reservation => {
  switch (kind) {
    case 'x':
      return { ...r, expiresAtMs: Number(first) };
    case 'f':
      return {
        ...r,
        state: 'finalized',
        closedPosition: Number(first),
        late: second === '1',
        cost: readAmounts(third),
      };
    case 'r':
      return { ...r, state: 'refunded', closedPosition: Number(first), reason: second };
    case 'm':
      return { ...r, raised: [...(r.raised ?? []), ...readAmounts(first)] };
    default:
      throw new Error(`A record in Redis has a segment of kind "${kind}", which this program does not know.`);
  }
};

/** Reads a record. Raises an Error for one that this program did not write. */
export const readRecord = (text: string, name: { tenant: string; id: string }): Read => {
  const [first = '', ...rest] = text.split(';');
  const opened = readFirst(first.slice(0, 1), first.slice(1).split('|'), name);
  const reservation = rest.reduce(
    (r, part) => readNext(r, part.slice(0, 1), part.slice(1).split('|')),
    opened.reservation,
  );
  return { ...opened, reservation };
};
