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

/** Findings of one walk, counted all and kept up to FINDINGS_MAX. */
export class Findings {
  private readonly kept: Finding[] = [];
  private total = 0;

  add(finding: Finding): void {
    this.total += 1;
    if (this.kept.length < FINDINGS_MAX) this.kept.push(finding);
  }

  get count(): number {
    return this.total;
  }

  get list(): readonly Finding[] {
    return this.kept;
  }
}
