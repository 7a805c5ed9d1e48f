import type { KafkaLog } from './client.js';
import { reasonOf } from './errors.js';

const REPEAT_MS = 30_000;

/** Says a trouble once when it begins and twice a minute while it lasts, not at every try; and says when it is over. */
export class Complaints {
  readonly #said = new Map<string, { readonly reason: string; readonly at: number }>();

  constructor(
    private readonly log: KafkaLog,
    private readonly part: string,
  ) {}

  say(about: string, error: unknown): void {
    const reason = reasonOf(error);
    const before = this.#said.get(about);
    const now = performance.now();
    if (before?.reason === reason && now - before.at < REPEAT_MS) return;
    this.#said.set(about, { reason, at: now });
    this.log.warn({ part: this.part, about }, reason);
  }

  settled(about: string): void {
    if (this.#said.delete(about)) this.log.info({ part: this.part, about }, 'works again');
  }
}
