import { describeReply } from './customers.js';
import type { LedgerClient, Reply } from './ledger-client.js';
import type { PlannedRequest } from './plan.js';
import { Tally } from './tally.js';
import type { Outcome } from './tally.js';

export interface PlayOptions {
  /** Requests under way at once. With a trace's own pace it bounds how many may be late together. */
  readonly concurrency: number;
  /** Told after each request, for progress. */
  readonly onEnd?: (tally: Tally, outcome: Outcome) => void;
  /** Stops after the requests under way. */
  readonly signal?: AbortSignal;
}

const isGranted = (reply: Reply): boolean =>
  reply.kind === 'answered' && (reply.status === 201 || reply.status === 200);
const isRefused = (reply: Reply): boolean => reply.kind === 'answered' && reply.status === 429;

/** One request's way: reserve, then run, then finalize or refund. */
class Playing {
  constructor(
    private readonly client: LedgerClient,
    private readonly tally: Tally,
  ) {}

  async play(request: PlannedRequest): Promise<Outcome> {
    let reply = await this.reserve(request);
    if (isRefused(reply) && (await this.recharge(request))) reply = await this.reserve(request);
    if (isRefused(reply)) return 'refused';
    if (!isGranted(reply)) return this.failed(reply);
    return request.fails ? this.refund(request) : this.finalize(request);
  }

  private reserve({ id, customer, model, hold }: PlannedRequest): Promise<Reply> {
    const body = { id, model, amount: hold.toString(), metadata: { purpose: 'load' } };
    return this.timed('reserve', this.client.post('/v1/reservations', customer.tenant, body));
  }

  private async recharge({ id, customer }: PlannedRequest): Promise<boolean> {
    if (customer.topUp === 0n) return false;
    const path = `/v1/accounts/${encodeURIComponent(customer.tenant)}/recharges`;
    const body = { id: `${id}-topup`, amount: customer.topUp.toString() };
    const reply = this.counted(await this.client.post(path, customer.tenant, body));
    if (!isGranted(reply)) return false;
    this.tally.recharges += 1;
    return true;
  }

  private async finalize({ id, customer, inputTokens, outputTokens, cost }: PlannedRequest): Promise<Outcome> {
    const body = { amount: cost.toString(), usage: { input_tokens: inputTokens, output_tokens: outputTokens } };
    const path = `/v1/reservations/${encodeURIComponent(id)}/finalize`;
    const reply = await this.timed('finalize', this.client.post(path, customer.tenant, body));
    if (!isGranted(reply)) return this.failed(reply);
    this.tally.used += cost;
    return 'finalized';
  }

  private async refund({ id, customer }: PlannedRequest): Promise<Outcome> {
    const path = `/v1/reservations/${encodeURIComponent(id)}/refund`;
    const reply = this.counted(await this.client.post(path, customer.tenant, { reason: 'provider_error' }));
    return isGranted(reply) ? 'refunded' : this.failed(reply);
  }

  private async timed(kind: 'reserve' | 'finalize', sent: Promise<Reply>): Promise<Reply> {
    const startedMs = performance.now();
    const reply = await sent;
    this.tally[kind].record(performance.now() - startedMs);
    return this.counted(reply);
  }

  private counted(reply: Reply): Reply {
    this.tally.retries += reply.tries - 1;
    return reply;
  }

  private failed(reply: Reply): Outcome {
    this.tally.error(describeReply(reply));
    return reply.kind === 'unknown' ? 'unknown' : 'rejected';
  }
}

/** Plays requests, `concurrency` at a time, in the order and at the pace in which the plan hands them out; every one is accounted for. */
export const play = async (
  plan: AsyncIterable<PlannedRequest>,
  client: LedgerClient,
  options: PlayOptions,
): Promise<Tally> => {
  const tally = new Tally();
  const playing = new Playing(client, tally);
  const requests = plan[Symbol.asyncIterator]();
  const worker = async (): Promise<void> => {
    while (options.signal?.aborted !== true) {
      const next = await requests.next();
      if (next.done === true) return;
      const outcome = await playing.play(next.value);
      tally.end(outcome);
      options.onEnd?.(tally, outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.concurrency }, worker));
  } finally {
    await requests.return?.();
  }
  return tally;
};
