/** How one part of the program is, in words that an operator can act on. */
export interface PartState {
  readonly name: string;
  readonly ok: boolean;
  readonly state: string;
}

/** What this program is. */
export interface Build {
  readonly version: string;
  readonly commit?: string;
}

/** What `/readyz` answers. */
export interface ReadinessReport {
  /** Whether it can serve. Redis or Kafka being away does not make it false: reserves go on through the journal. */
  readonly ready: boolean;
  /** The newest migration that the database has. */
  readonly schemaVersion: number;
  /** SHA-1 of each Lua script by its name, as Redis knows it. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly parts: readonly PartState[];
}

/** Asked at each `/readyz`; must answer within about a second, and must not raise. */
export type Readiness = () => Promise<ReadinessReport>;
