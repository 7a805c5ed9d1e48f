/**
 * The ledger's incarnation as this process knows it: what an operator's resume raises after a restore, so that whatever carries a
 * lower one is refused (design, section 4). It only rises.
 */
export class CurrentIncarnation {
  #value: number;

  constructor(value: number) {
    this.#value = value;
  }

  get value(): number {
    return this.#value;
  }

  /** Takes note of the incarnation that the database has. */
  noted(value: number): void {
    this.#value = Math.max(this.#value, value);
  }
}
