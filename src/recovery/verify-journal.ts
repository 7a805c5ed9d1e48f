import {
  BUCKETS,
  EMPTY_BUCKETS,
  addPosting,
  canonicalBody,
  chainHash,
  genesisHash,
  sumOf,
} from '../../events/index.js';
import type { Buckets, LedgerEvent } from '../../events/index.js';
import type { AuditView, JournalAudit } from '../core/audit.js';
import type { DecodeBody } from '../core/ports.js';
import { reservationKey } from '../core/state.js';
import { trailPostings } from '../core/trail-postings.js';
import { FINDINGS_MAX } from './finding.js';
import { StateWalk } from './verify-state.js';

/** An event that is not as it must be. */
export interface Mismatch {
  readonly position: number;
  readonly what: string;
}

/** A row that is not what the events add up to. */
export interface Drift {
  readonly account?: string;
  readonly position?: number;
  readonly what: string;
}

/** What verifying one partition of the journal found. All is well when `mismatches` and `drift` are 0. */
export interface PartitionFindings {
  readonly partition: number;
  /** Events walked, and where the log ended when it was. */
  readonly events: number;
  readonly position: number;
  readonly hash: string;
  /** Events that are not what their hash says, are out of place, or don't sum to zero. */
  readonly mismatches: number;
  readonly firstMismatch?: Mismatch;
  /** The first few. */
  readonly mismatched: readonly Mismatch[];
  /** Rows (accounts, trail steps, open reservations) that are not what the events sum up to. */
  readonly drift: number;
  /** The first few, in words. */
  readonly drifted: readonly Drift[];
  /** By account: what the events sum up to, for comparing with other projections. */
  readonly balances: ReadonlyMap<string, Buckets>;
}

export interface VerifyOptions {
  readonly decode: DecodeBody;
  /** Told now and then how many events of the partition are done. */
  readonly onProgress?: (partition: number, events: number) => void;
  /** Also every row of the state, whole: accounts, reservations, fundings. */
  readonly deep?: boolean;
  /** Told of every event that can be read. */
  readonly onEvent?: (event: LedgerEvent) => void;
}

const CHUNK = 1_000;

/**
 * Verifies a partition of the journal beside live traffic: walks every event in one snapshot, checks the chain, folds
 * the postings, and compares with accounts, trail and open reservations. Memory grows with the accounts and open
 * reservations of the partition, not with its events. Raises UnavailableError when Postgres can't be asked.
 */
export const verifyJournalPartition = (
  audit: JournalAudit,
  partition: number,
  options: VerifyOptions,
): Promise<PartitionFindings> =>
  audit.withPartition(partition, async (view) => {
    const walk = new Walk(audit.ledger, partition, options);
    for await (const rows of view.events(CHUNK)) await walk.take(rows, view);
    walk.checkHead(view);
    await walk.compareAccounts(view);
    await walk.compareReservations(view);
    await walk.conclude(view);
    return walk.findings();
  });

interface AccountFold {
  readonly buckets: Buckets;
  readonly trailRows: number;
}

class Walk {
  readonly #ledger: string;
  readonly #partition: number;
  readonly #options: VerifyOptions;
  readonly #accounts = new Map<string, AccountFold>();
  /** By reservationKey. */
  readonly #open = new Set<string>();
  readonly #drifted: Drift[] = [];
  readonly #mismatched: Mismatch[] = [];
  readonly #state: StateWalk | undefined;
  #position = 0;
  #hash: string;
  #timeMs = 0;
  #mismatches = 0;
  #drift = 0;

  constructor(ledger: string, partition: number, options: VerifyOptions) {
    this.#ledger = ledger;
    this.#partition = partition;
    this.#options = options;
    this.#hash = genesisHash(ledger, partition);
    this.#state = options.deep === true ? new StateWalk((drift) => this.#differs(drift)) : undefined;
  }

  async take(
    rows: readonly { readonly position: number; readonly hash: string; readonly body: string }[],
    view: AuditView,
  ): Promise<void> {
    const trail: { account: string; position: number; after: Buckets }[] = [];
    for (const { position, hash, body } of rows) {
      if (position > view.head.position) {
        this.#mismatch(position, `the event stands behind the head, which is at ${view.head.position.toString()}`);
        continue;
      }
      if (position !== this.#position + 1)
        this.#mismatch(this.#position + 1, `the event is missing; the next is at ${position.toString()}`);
      if (chainHash(this.#hash, body) !== hash) this.#mismatch(position, 'the hash is not that of the body');
      // From the stored hash on: one changed event is one mismatch, not all that follow.
      this.#hash = hash;
      this.#position = position;
      const event = this.#decode(position, body);
      if (event === undefined) continue;
      trail.push(...this.#fold(event));
      this.#state?.fold(event);
      this.#options.onEvent?.(event);
    }
    await this.#compareTrail(trail, view);
    await this.#state?.settle(view);
    this.#options.onProgress?.(this.#partition, this.#position);
  }

  checkHead({ head }: AuditView): void {
    if (head.position !== this.#position)
      this.#mismatch(this.#position + 1, `the log ends before its head, which is at ${head.position.toString()}`);
    else if (head.hash !== this.#hash) this.#mismatch(head.position, "the head's hash is not that of the last event");
  }

  async compareAccounts(view: AuditView): Promise<void> {
    const missing = new Set(this.#accounts.keys());
    for await (const rows of view.accounts(CHUNK))
      for (const { account, trailRows } of rows) {
        missing.delete(account.account);
        const fold = this.#accounts.get(account.account);
        const bucket = BUCKETS.find((one) => account[one] !== fold?.buckets[one]);
        if (bucket !== undefined)
          this.#differs({
            account: account.account,
            what: `${bucket} is ${account[bucket].toString()}, its events sum up to ${fold?.buckets[bucket].toString() ?? 'nothing'}`,
          });
        else if (trailRows !== fold?.trailRows)
          this.#differs({ account: account.account, what: `its trail has ${trailRows.toString()} rows` });
        else this.#state?.compareAccount(account);
      }
    for (const account of missing) this.#differs({ account, what: 'it has events and no row' });
  }

  async compareReservations(view: AuditView): Promise<void> {
    const missing = new Set(this.#open);
    for await (const rows of view.openReservations(CHUNK))
      for (const { tenant, id } of rows)
        if (!missing.delete(reservationKey(tenant, id)))
          this.#differs({ what: `reservation ${id} of ${tenant} is open, and its events say otherwise` });
    for (const key of missing) this.#differs({ what: `reservation ${key} is not open, and its events say that it is` });
  }

  async conclude(view: AuditView): Promise<void> {
    await this.#state?.conclude(view);
  }

  findings(): PartitionFindings {
    return {
      partition: this.#partition,
      events: this.#position,
      position: this.#position,
      hash: this.#hash,
      mismatches: this.#mismatches,
      ...(this.#mismatched[0] === undefined ? {} : { firstMismatch: this.#mismatched[0] }),
      mismatched: this.#mismatched,
      drift: this.#drift,
      drifted: this.#drifted,
      balances: new Map([...this.#accounts].map(([account, { buckets }]) => [account, buckets])),
    };
  }

  #decode(position: number, body: string): LedgerEvent | undefined {
    try {
      const event = this.#options.decode(body);
      if (canonicalBody(event) !== body) this.#mismatch(position, 'the body is not in canonical form');
      if (event.ledger !== this.#ledger || event.partition !== this.#partition || event.position !== position)
        this.#mismatch(position, 'the body says that it stands elsewhere');
      if (event.timeMs < this.#timeMs) this.#mismatch(position, 'its time is before that of the event before it');
      this.#timeMs = event.timeMs;
      return event;
    } catch (error) {
      this.#mismatch(position, `the body can't be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  #fold(event: LedgerEvent): { account: string; position: number; after: Buckets }[] {
    if (event.data.postings.some((posting) => sumOf(posting) !== 0n))
      this.#mismatch(event.position, 'its postings do not sum to zero');
    if (event.name === 'Reserved') this.#open.add(reservationKey(event.tenant, event.data.reservation_id));
    if (event.name === 'Finalized' || event.name === 'Refunded')
      this.#open.delete(reservationKey(event.tenant, event.data.reservation_id));
    return trailPostings(event).map((posting) => {
      const { account } = posting;
      const before = this.#accounts.get(account) ?? { buckets: EMPTY_BUCKETS, trailRows: 0 };
      const after = addPosting(before.buckets, posting);
      this.#accounts.set(account, { buckets: after, trailRows: before.trailRows + 1 });
      return { account, position: event.position, after };
    });
  }

  async #compareTrail(
    steps: readonly { readonly account: string; readonly position: number; readonly after: Buckets }[],
    view: AuditView,
  ): Promise<void> {
    if (steps.length === 0) return;
    const key = (account: string, position: number): string => `${account} ${position.toString()}`;
    const stored = new Map((await view.trail(steps)).map((row) => [key(row.account, row.position), row.after]));
    for (const { account, position, after } of steps) {
      const found = stored.get(key(account, position));
      if (BUCKETS.some((bucket) => found?.[bucket] !== after[bucket]))
        this.#differs({ account, position, what: 'its trail there is not what its events sum up to' });
    }
  }

  #mismatch(position: number, what: string): void {
    this.#mismatches++;
    if (this.#mismatched.length < FINDINGS_MAX) this.#mismatched.push({ position, what });
  }

  #differs(drift: Drift): void {
    this.#drift++;
    if (this.#drifted.length < FINDINGS_MAX) this.#drifted.push(drift);
  }
}
