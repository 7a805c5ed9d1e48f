import type { Scope } from '../../core/ports.js';
import { assertScope } from '../authenticate.js';
import type { Call } from '../context.js';
import { outcomeOf } from '../errors/problem.js';
import type { Outcome } from '../errors/problem.js';
import type { BatchCommand } from '../schemas/batch.js';
import { adjust, openAccount, recharge } from './account.js';
import { extend, finalize, getReservation, refund, reserve } from './reservation.js';

const SCOPE_OF: Readonly<Record<BatchCommand['op'], Scope>> = {
  open: 'fund',
  recharge: 'fund',
  adjust: 'fund',
  get: 'read',
  reserve: 'reserve',
  finalize: 'reserve',
  refund: 'reserve',
  extend: 'reserve',
};

/**
 * Carries out each command as if it had come alone. Commands of one id run one after the other, in order; others at once, so that they
 * share a group commit. Never raises: an error that nobody foresaw goes to `onUnforeseen`, which makes its answer.
 */
export const runBatch = (
  call: Call,
  commands: readonly BatchCommand[],
  onUnforeseen: (error: unknown) => Outcome,
): Promise<Outcome[]> => {
  const lastOf = new Map<string, Promise<Outcome>>();
  return Promise.all(
    commands.map((command) => {
      const run = () => runOne(call, command, onUnforeseen);
      const key = command.id === undefined ? undefined : `${KIND_OF[command.op]} ${command.id}`;
      const before = key === undefined ? undefined : lastOf.get(key);
      const running = before === undefined ? run() : before.then(run);
      if (key !== undefined) lastOf.set(key, running);
      return running;
    }),
  );
};

/** Ids of reservations, of accounts and of payments are kinds of their own. */
const KIND_OF: Readonly<Record<BatchCommand['op'], string>> = {
  open: 'account',
  recharge: 'recharge',
  adjust: 'adjustment',
  get: 'reservation',
  reserve: 'reservation',
  finalize: 'reservation',
  refund: 'reservation',
  extend: 'reservation',
};

const runOne = async (
  call: Call,
  command: BatchCommand,
  onUnforeseen: (error: unknown) => Outcome,
): Promise<Outcome> => {
  try {
    assertScope(call.caller.key, SCOPE_OF[command.op]);
    return await dispatch(call, command);
  } catch (error) {
    return outcomeOf(error) ?? onUnforeseen(error);
  }
};

const dispatch = (call: Call, command: BatchCommand): Promise<Outcome> => {
  switch (command.op) {
    case 'open':
      return openAccount(call, command);
    case 'recharge':
      return recharge(call, command.account, command.id, command);
    case 'adjust':
      return adjust(call, command.account, command.id, command);
    case 'reserve':
      return reserve(call, command, command);
    case 'get':
      return getReservation(call, command);
    case 'finalize':
      return finalize(call, command, command);
    case 'refund':
      return refund(call, command, command);
    case 'extend':
      return extend(call, command, command);
  }
};
