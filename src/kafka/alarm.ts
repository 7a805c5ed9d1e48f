/** A wait that can be cut short: one waiter, any number of rings. A ring while nobody waits ends the next wait at once. */
export class Alarm {
  #rung = false;
  #wake: (() => void) | undefined;

  /** Resolves after `ms`, or when it rings. */
  async wait(ms: number): Promise<void> {
    if (!this.#rung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = undefined;
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }
}
