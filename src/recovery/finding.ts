/** Something that is not as it must be, in words that name the place. */
export interface Finding {
  readonly where: 'postgres' | 'kafka' | 'redis';
  readonly partition: number;
  /** The first position at which it shows, when it has one. */
  readonly position?: number;
  readonly account?: string;
  readonly what: string;
}

/** Most findings that are kept of one partition and one service: the first ones tell, the number counts the rest. */
export const FINDINGS_MAX = 20;
/** Most that are kept of one service. */
const KEPT_MAX = 1000;

/** Findings of one walk, counted all; the first ones are kept. */
export class Findings {
  private readonly kept: Finding[] = [];
  private total = 0;

  add(finding: Finding): void {
    this.total += 1;
    if (this.kept.length < KEPT_MAX) this.kept.push(finding);
  }

  /** Takes over what one partition's walk found: its first ones, and the number of all. */
  addAll({ list, count }: Findings): void {
    for (const finding of list.slice(0, FINDINGS_MAX)) this.add(finding);
    this.more(count - Math.min(list.length, FINDINGS_MAX));
  }

  /** Counts some whose words are not kept. */
  more(count: number): void {
    this.total += count;
  }

  get count(): number {
    return this.total;
  }

  get list(): readonly Finding[] {
    return this.kept;
  }
}
