import { randomBytes } from 'node:crypto';
import { RebuildLostError } from '../core/ports.js';
import type { Checkpoint, Rebuild, RebuildTarget, SpeculationId } from '../core/ports.js';
import type { Account, MaxCost, Reservation } from '../core/state.js';
import { nameOf, numberAt, readName, textsFrom } from './answers.js';
import type { Answer } from './connection.js';
import { faultOf } from './errors.js';
import { accountText, maxCostText } from './event-text.js';
import type { Masters } from './masters.js';
import { recordOf } from './record.js';
import type { ScriptArgs, ScriptName } from './script-contracts.js';

/** Items in one script: about 2 ms of Redis. */
const CHUNK_SIZE = 500;

type Item = readonly [kind: 'account' | 'open' | 'closed' | 'known' | 'model', name: string, text: string];

/** Redis as what a rebuild writes to. */
export class RedisRebuildTarget implements RebuildTarget {
  constructor(private readonly masters: Masters) {}

  async begin(partition: number): Promise<Rebuild> {
    const token = randomBytes(12).toString('base64url');
    const { rest } = await runStep(this.masters, partition, 'rebuild_begin', { token });
    const speculations = textsFrom(rest, 0).map(readName);
    for (let left = 1; left > 0;) {
      const args = { token, count: CHUNK_SIZE.toString() };
      left = numberAt((await runStep(this.masters, partition, 'rebuild_drop', args)).rest, 0);
    }
    return new RedisRebuild(this.masters, partition, token, speculations);
  }
}

/** Runs a step. A step that is not answered has lost the rebuild: whether it ran can't be told, and a second try is refused. */
const runStep = async <N extends ScriptName>(
  masters: Masters,
  partition: number,
  script: N,
  args: ScriptArgs<N>,
  more: readonly string[] = [],
): Promise<Answer> => {
  const route = masters.route(partition);
  if (route === undefined) throw new RebuildLostError(partition, 'unreachable');
  let answer: Answer;
  try {
    answer = await route.connection.run(script, route.keys, args, more);
  } catch (error) {
    const fault = faultOf(error);
    masters.note(fault, script);
    throw new RebuildLostError(partition, 'unreachable', { cause: fault });
  }
  if (answer.word === 'superseded') throw new RebuildLostError(partition, 'superseded');
  return answer;
};

class RedisRebuild implements Rebuild {
  private step = 0;

  constructor(
    private readonly masters: Masters,
    readonly partition: number,
    private readonly token: string,
    readonly speculations: readonly SpeculationId[],
  ) {}

  accounts(accounts: readonly Account[]): Promise<void> {
    return this.give(accounts.map((a) => ['account', a.account, accountText(a)]));
  }

  reservations(reservations: readonly Reservation[]): Promise<void> {
    return this.give(
      reservations.map((r) => [r.state === 'open' ? 'open' : 'closed', nameOf(r.tenant, r.id), recordOf(r)]),
    );
  }

  dropKnown(known: readonly SpeculationId[]): Promise<void> {
    return this.give(known.map(({ tenant, id }) => ['known', nameOf(tenant, id), '']));
  }

  maxCosts(maxCosts: readonly MaxCost[]): Promise<void> {
    return this.give(maxCosts.map(maxCostText).map((c) => ['model', c.field, `${c.revision} ${c.amount} ${c.room}`]));
  }

  async end(checkpoint: Checkpoint): Promise<{ readonly deducted: number; readonly dropped: number }> {
    const { rest } = await runStep(this.masters, this.partition, 'rebuild_end', {
      token: this.token,
      steps: this.step.toString(),
      cp: checkpoint.position.toString(),
      hash: checkpoint.hash,
      inc: checkpoint.incarnation.toString(),
    });
    return { deducted: numberAt(rest, 0), dropped: numberAt(rest, 1) };
  }

  private async give(items: readonly Item[]): Promise<void> {
    for (let from = 0; from < items.length; from += CHUNK_SIZE) {
      const args = { token: this.token, step: this.step.toString() };
      await runStep(this.masters, this.partition, 'rebuild_chunk', args, items.slice(from, from + CHUNK_SIZE).flat());
      this.step++;
    }
  }
}
