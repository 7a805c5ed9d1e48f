import type { StoredEvent } from '../../events/index.js';
import type { ApplyOutcome, BalancesStore, Checkpoint } from '../core/ports.js';
import { listAt, numberAt, optionalAt, unknownWord } from './answers.js';
import type { Answer } from './connection.js';
import { faultOf } from './errors.js';
import { eventText } from './event-text.js';
import type { Masters, Route } from './masters.js';
import type { Seen } from './seen.js';

/** Most events in one script: a writing script can't be killed, so each is kept short. */
const EVENTS_MAX = 500;

export interface Retention {
  readonly closedIdsMs: number;
  readonly closedIdsMax: number;
}

/** The checkpoint among `cp, hash, inc`; undefined when there is none. */
export const readCheckpoint = (partition: number, known: readonly unknown[]): Checkpoint | undefined => {
  const hash = optionalAt(known, 1);
  if (optionalAt(known, 0) === undefined || hash === undefined) return undefined;
  return { partition, position: numberAt(known, 0), hash, incarnation: numberAt(known, 2) };
};

/** Redis as a projection: applies what is committed. */
export class RedisBalances implements BalancesStore {
  constructor(
    private readonly masters: Masters,
    private readonly seen: Seen,
    private readonly retention: Retention,
  ) {}

  async apply(partition: number, incarnation: number, run: readonly StoredEvent[]): Promise<ApplyOutcome> {
    if (run.length === 0) throw new Error('There is nothing to apply in an empty run.');
    let outcome: ApplyOutcome = { kind: 'not_ready' };
    for (let from = 0; from < run.length; from += EVENTS_MAX) {
      outcome = await this.applyShort(partition, incarnation, run.slice(from, from + EVENTS_MAX));
      if (outcome.kind !== 'applied') return outcome;
    }
    return outcome;
  }

  async checkpoint(partition: number): Promise<Checkpoint | undefined> {
    const route = this.masters.route(partition);
    if (route === undefined) return undefined;
    try {
      const { rest } = await route.connection.run('info', route.keys, {});
      return readCheckpoint(partition, listAt(rest, 0));
    } catch (error) {
      this.masters.note(faultOf(error), 'info');
      return undefined;
    }
  }

  private async applyShort(partition: number, incarnation: number, run: readonly StoredEvent[]): Promise<ApplyOutcome> {
    const route = this.masters.route(partition);
    if (route === undefined) return { kind: 'unreachable', why: 'not_connected' };
    try {
      return this.read(partition, await this.send(route, incarnation, run));
    } catch (error) {
      const fault = faultOf(error);
      this.masters.note(fault, 'apply');
      return { kind: 'unreachable', why: fault.kind };
    }
  }

  private send({ connection, keys }: Route, incarnation: number, run: readonly StoredEvent[]): Promise<Answer> {
    const [first] = run;
    if (first === undefined) throw new Error('There is nothing to apply in an empty run.');
    const { position } = first.event;
    run.forEach((stored, index) => {
      if (stored.event.position !== position + index) throw new Error('A run to apply has a gap in its positions.');
    });
    const args = {
      inc: incarnation.toString(),
      first: position.toString(),
      prev: first.prevHash,
      retention: this.retention.closedIdsMs.toString(),
      keep: this.retention.closedIdsMax.toString(),
    };
    return connection.run('apply', keys, args, run.map(eventText));
  }

  private read(partition: number, { word, rest }: Answer): ApplyOutcome {
    switch (word) {
      case 'applied':
      case 'gap': {
        const checkpoint = numberAt(rest, 0);
        this.seen.note(partition, numberAt(rest, 1), checkpoint);
        return { kind: word, checkpoint };
      }
      case 'not_ready':
      case 'fork':
      case 'overflow':
        return { kind: word };
      case 'stale':
        return { kind: 'stale_incarnation' };
      default:
        throw unknownWord('apply', word);
    }
  }
}
