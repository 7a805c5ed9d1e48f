import type { JournalReader } from '../core/ports.js';

/** What a walk over the whole log found. Amounts in micro-units. */
export interface OverspendCount {
  readonly events: number;
  readonly reserves: number;
  /** Reserves after which an account that is not exempt had less than its overdraft limit allows. */
  readonly overspends: number;
  /** The lowest available of any such account right after a reserve; undefined when there was none. */
  readonly lowest?: bigint;
}

interface AccountLine {
  available: bigint;
  readonly overdraftLimit: bigint;
  readonly exempt: boolean;
}

/** The members of an event's body that a balance follows from. */
interface Body {
  readonly type: string;
  readonly data: {
    readonly account?: string;
    readonly overdraft_limit?: string;
    readonly exempt?: boolean;
    readonly postings: readonly { readonly account: string; readonly available: string }[];
  };
}

const PAGE = 2_000;
const TYPE_PATTERN = /^com\.holdfast\.(\w+)\.v1$/;

/** Follows one partition's accounts over every prefix of its log. */
class Walk {
  events = 0;
  reserves = 0;
  overspends = 0;
  lowest: bigint | undefined;
  readonly #accounts = new Map<string, AccountLine>();

  take(text: string): void {
    const { type, data } = JSON.parse(text) as Body;
    const name = TYPE_PATTERN.exec(type)?.[1];
    this.events += 1;
    if (name === 'accountopened' && data.account !== undefined)
      this.#accounts.set(data.account, {
        available: 0n,
        overdraftLimit: BigInt(data.overdraft_limit ?? '0'),
        exempt: data.exempt === true,
      });
    for (const posting of data.postings) this.#account(posting.account).available += BigInt(posting.available);
    if (name === 'reserved') this.#judge(data);
  }

  #judge({ postings }: Body['data']): void {
    this.reserves += 1;
    const guarded = postings.map((p) => this.#account(p.account)).filter((account) => !account.exempt);
    for (const { available } of guarded)
      if (this.lowest === undefined || available < this.lowest) this.lowest = available;
    if (guarded.some(({ available, overdraftLimit }) => available + overdraftLimit < 0n)) this.overspends += 1;
  }

  #account(name: string): AccountLine {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new Error(`The log posts to ${name} before it was opened.`);
    return account;
  }
}

/**
 * Counts overspends from the log alone, over every prefix: it adds up the postings of the stored bodies itself and shares
 * no code with the rules that wrote them, nor with the account rows or Redis. Reads up to the heads as they are at the start.
 * Raises an Error when a partition's positions are not 1, 2, 3 … up to its head.
 */
export const countOverspends = async (
  reader: Pick<JournalReader, 'heads' | 'read'>,
  onPartition: (done: number, all: number) => void = () => undefined,
): Promise<OverspendCount> => {
  const heads = await reader.heads();
  let total: OverspendCount = { events: 0, reserves: 0, overspends: 0 };
  for (const [index, head] of heads.entries()) {
    const walk = new Walk();
    for (let at = 0; at < head.position;) {
      const page = await reader.read(head.partition, at, PAGE);
      for (const { body, event } of page) {
        if (event.position !== at + 1)
          throw new Error(`The log of partition ${head.partition} goes from position ${at} to ${event.position}.`);
        walk.take(body);
        at = event.position;
      }
      if (page.length === 0) throw new Error(`The log of partition ${head.partition} ends at ${at}, before its head.`);
    }
    total = addCounts(total, walk);
    onPartition(index + 1, heads.length);
  }
  return total;
};

const addCounts = (a: OverspendCount, b: OverspendCount | Walk): OverspendCount => {
  const lowest = [a.lowest, b.lowest].filter((low) => low !== undefined).sort((x, y) => (x < y ? -1 : 1))[0];
  return {
    events: a.events + b.events,
    reserves: a.reserves + b.reserves,
    overspends: a.overspends + b.overspends,
    ...(lowest === undefined ? {} : { lowest }),
  };
};
