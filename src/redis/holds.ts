import { randomBytes } from 'node:crypto';
import { tenantOf } from '../../events/index.js';
import type { AmountsGiven, Reserve } from '../core/command.js';
import { differenceOf } from '../core/decide/reserve.js';
import type { HoldOutcome, Holds } from '../core/ports.js';
import { nameOf, readTaken, textAt, unknownWord } from './answers.js';
import type { Answer } from './connection.js';
import type { RedisFault } from './errors.js';
import { faultOf } from './errors.js';
import { roomOf } from './event-text.js';
import type { Masters, Route } from './masters.js';
import { readRecord } from './record.js';
import type { ScriptArgs } from './script-contracts.js';
import type { Seen } from './seen.js';

const askJournal = (why: string): HoldOutcome => ({ kind: 'ask_journal', why });

/** Amounts asked as `[unit, amount]`, ordered by unit; `*` is the one unit that all accounts share. */
const askedOf = (given: AmountsGiven): readonly (readonly [string, bigint])[] => {
  switch (given.kind) {
    case 'none':
      return [];
    case 'sole':
      return [['*', given.amount]];
    case 'by_unit':
      return [...given.amounts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
};

/** Only accounts of the tenant, each once: anything else is for the journal to refuse. */
const isPlain = ({ tenant, accounts }: Reserve): boolean =>
  new Set(accounts).size === accounts.length && accounts.every((account) => tenantOf(account) === tenant);

/** Redis as a guard in front of the journal. */
export class RedisHolds implements Holds {
  private readonly node = randomBytes(6).toString('base64url');
  private attempts = 0;

  constructor(
    private readonly masters: Masters,
    private readonly seen: Seen,
    private readonly timeoutMs: number,
  ) {}

  async hold(partition: number, command: Reserve): Promise<HoldOutcome> {
    const route = this.masters.route(partition);
    if (route === undefined) return askJournal('unreachable');
    if (!isPlain(command)) return askJournal('irregular');
    const attempt = `${this.node}.${(++this.attempts).toString(36)}`;
    try {
      const { args, more } = this.argsOf(partition, command, route, attempt);
      return this.read(await route.connection.run('hold', route.keys, args, more), command, attempt);
    } catch (error) {
      return this.failed(faultOf(error), attempt);
    }
  }

  async release(partition: number, tenant: string, id: string, attempt: string): Promise<void> {
    await this.end(partition, 'release', (route) =>
      route.connection.run('release', route.keys, { id: nameOf(tenant, id), attempt }),
    );
  }

  async settle(partition: number, tenant: string, id: string, position: number): Promise<void> {
    await this.end(partition, 'settle', (route) =>
      route.connection.run('settle', route.keys, { id: nameOf(tenant, id), position: position.toString() }),
    );
  }

  private argsOf(
    partition: number,
    command: Reserve,
    { connection, epoch }: Route,
    attempt: string,
  ): { args: ScriptArgs<'hold'>; more: string[] } {
    const { incarnation, position } = this.seen.of(partition);
    const asked = askedOf(command.requested);
    const requested = asked.map(([unit, amount]) => `${unit}=${amount.toString()}`).join(',');
    const args = {
      id: nameOf(command.tenant, command.id),
      epoch: epoch.toString(),
      inc: incarnation.toString(),
      position: position.toString(),
      deadline: Math.floor(connection.redisNowMs() + this.timeoutMs).toString(),
      policy: command.policy,
      model: command.model ?? '',
      level: command.level,
      attempt,
      fingerprint: [command.accounts.join(','), command.model ?? '', requested, command.ttlSeconds].join('|'),
      count: command.accounts.length.toString(),
    };
    const amounts = asked.flatMap(([unit, amount]) => [unit, amount.toString(), roomOf(amount)]);
    return { args, more: [...command.accounts, ...amounts] };
  }

  private read({ word, rest }: Answer, command: Reserve, attempt: string): HoldOutcome {
    switch (word) {
      case 'held':
        return { kind: 'held', amounts: new Map(readTaken(textAt(rest, 0)).map((t) => [t.unit, t.amount])), attempt };
      case 'known':
        return this.known(textAt(rest, 0), command);
      case 'refused':
        return {
          kind: 'refused',
          account: textAt(rest, 0),
          unit: textAt(rest, 1),
          available: BigInt(textAt(rest, 2)),
          required: BigInt(textAt(rest, 3)),
        };
      case 'ask': {
        const why = textAt(rest, 0);
        if (why === 'epoch_differs') this.masters.refreshSoon();
        return askJournal(why);
      }
      default:
        throw unknownWord('hold', word);
    }
  }

  /** Redis answers for a known id only where that is the whole answer; what is refused or incomplete, the journal says. */
  private known(record: string, command: Reserve): HoldOutcome {
    const { reservation, partial } = readRecord(record, { tenant: command.tenant, id: command.id });
    if (partial) return askJournal('has_metadata');
    if (!reservation.opened) return askJournal('closed_cold');
    if (differenceOf(reservation, command) !== undefined) return askJournal('contents_differ');
    return { kind: 'known', reservation };
  }

  private failed(fault: RedisFault, attempt: string): HoldOutcome {
    this.masters.note(fault, 'hold');
    // A script that failed half way may have taken something: it is given back like one whose answer was lost.
    if (fault.kind === 'outcome_unknown' || fault.kind === 'script_failed') return { kind: 'unknown', attempt };
    return askJournal(fault.kind === 'moved' ? 'moved' : 'unreachable');
  }

  /** What can't be ended now is found by the sweeper, or replaced by its event. */
  private async end(partition: number, script: string, run: (route: Route) => Promise<Answer>): Promise<void> {
    const route = this.masters.route(partition);
    if (route === undefined) return;
    try {
      await run(route);
    } catch (error) {
      this.masters.note(faultOf(error), script);
    }
  }
}
