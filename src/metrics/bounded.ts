/** Values of a label that callers choose: the first `max` distinct ones are kept, the rest become `other`. A label must not grow without bound. */
export class BoundedLabel {
  private readonly seen = new Set<string>();

  constructor(private readonly max: number) {}

  of(value: string): string {
    if (this.seen.has(value)) return value;
    if (this.seen.size >= this.max) return 'other';
    this.seen.add(value);
    return value;
  }
}

interface Tracked {
  count: number;
}

/**
 * The busiest `shown` of any number of names, in bounded memory (Space-Saving, Metwally et al. 2005): ten times as many are
 * tracked; a newcomer takes the place and the count of the least. A count may be too high by at most that of the one it replaced, never too low.
 */
export class TopNames {
  private readonly tracked = new Map<string, Tracked>();
  private readonly capacity: number;

  constructor(private readonly shown: number) {
    this.capacity = shown * 10;
  }

  add(name: string): void {
    const known = this.tracked.get(name);
    if (known !== undefined) {
      known.count++;
      return;
    }
    if (this.tracked.size < this.capacity) this.tracked.set(name, { count: 1 });
    else this.replaceLeast(name);
  }

  /** The busiest, most first. */
  top(): readonly { readonly name: string; readonly count: number }[] {
    return [...this.tracked]
      .map(([name, { count }]) => ({ name, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, this.shown);
  }

  private replaceLeast(name: string): void {
    let least: string | undefined;
    let count = Infinity;
    for (const [other, tracked] of this.tracked) {
      if (tracked.count >= count) continue;
      least = other;
      count = tracked.count;
      if (count === 1) break;
    }
    if (least === undefined) return;
    this.tracked.delete(least);
    this.tracked.set(name, { count: count + 1 });
  }
}
