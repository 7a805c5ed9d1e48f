import type { UnitTotal } from '../core/ports.js';

/** The ratio is told to four digits. */
const DIGITS = 10_000n;

/** Held over available by unit, from sums that come a partition at a time. A unit without anything available has none. */
export class HeldRatios {
  private readonly byPartition = new Map<number, readonly UnitTotal[]>();

  /** Takes the present sums of a partition and returns the ratio of every unit. */
  take(partition: number, totals: readonly UnitTotal[]): ReadonlyMap<string, number> {
    this.byPartition.set(partition, totals);
    const sums = new Map<string, { available: bigint; held: bigint }>();
    for (const { unit, available, held } of [...this.byPartition.values()].flat()) {
      const sum = sums.get(unit) ?? { available: 0n, held: 0n };
      sums.set(unit, { available: sum.available + available, held: sum.held + held });
    }
    return new Map(
      [...sums]
        .filter(([, { available }]) => available > 0n)
        .map(([unit, { available, held }]) => [unit, Number((held * DIGITS) / available) / Number(DIGITS)]),
    );
  }
}
