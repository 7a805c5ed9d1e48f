import Table from 'cli-table3';
import type { OverspendCount } from '../load/overspends.js';
import type { TallySummary } from '../load/tally.js';
import type { DriftCount } from './demo-ports.js';
import { dollars } from './load-options.js';

/** What the copies say after a part of the demo. */
export interface Audit {
  readonly counted: OverspendCount;
  readonly drift: DriftCount;
}

/** A part of the demo: the requests played, and what was found afterwards. */
export interface Part {
  readonly name: string;
  readonly tally: TallySummary;
  readonly audit: Audit;
}

/** All differences together. */
export const driftOf = ({ postgres, kafka, redis }: DriftCount): number => postgres + kafka + redis;

/** The demo's verdict: what its last line says and its exit code follows. */
export const verdictOf = (parts: readonly Part[]): { overspends: number; drift: number } => ({
  // The last count goes over the whole log, so it holds the earlier ones.
  overspends: parts.at(-1)?.audit.counted.overspends ?? 0,
  // Drift may heal: one seen after any part counts.
  drift: parts.reduce((sum, { audit }) => sum + driftOf(audit.drift), 0),
});

/** The demo's last line. */
export const lastLine = ({ overspends, drift }: ReturnType<typeof verdictOf>): string =>
  `overspends ${overspends}, drift ${drift}`;

const ms = (value: number): string => `${value.toFixed(1)} ms`;

const rows: readonly (readonly [string, (part: Part) => string])[] = [
  ['requests', ({ tally }) => tally.requests.toString()],
  ['  charged', ({ tally }) => tally.finalized.toString()],
  ['  failed and refunded', ({ tally }) => tally.refunded.toString()],
  ['  refused: out of quota', ({ tally }) => tally.refused.toString()],
  ['  rejected otherwise', ({ tally }) => tally.rejected.toString()],
  ['  without an answer', ({ tally }) => tally.unknown.toString()],
  ['recharges by customers run dry', ({ tally }) => tally.recharges.toString()],
  ['used', ({ tally }) => dollars(BigInt(tally.used))],
  ['requests a second', ({ tally }) => tally.requests_per_second.toFixed(0)],
  ['reserve, P50', ({ tally }) => ms(tally.reserve.p50_ms)],
  ['reserve, P99', ({ tally }) => ms(tally.reserve.p99_ms)],
  ['finalize, P50', ({ tally }) => ms(tally.finalize.p50_ms)],
  ['finalize, P99', ({ tally }) => ms(tally.finalize.p99_ms)],
  ['events in the log', ({ audit }) => audit.counted.events.toString()],
  [
    'lowest balance after a reserve',
    ({ audit }) => (audit.counted.lowest === undefined ? '' : dollars(audit.counted.lowest)),
  ],
  ['overspends', ({ audit }) => audit.counted.overspends.toString()],
  ['drift in Postgres', ({ audit }) => audit.drift.postgres.toString()],
  ['drift in Kafka', ({ audit }) => audit.drift.kafka.toString()],
  ['drift in Redis', ({ audit }) => audit.drift.redis.toString()],
];

/** The table, a column for each part. */
export const tableOf = (parts: readonly Part[]): string => {
  const table = new Table({
    head: ['', ...parts.map(({ name }) => name)],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    colAligns: ['left', ...parts.map(() => 'right' as const)],
  });
  for (const [label, read] of rows) table.push([label, ...parts.map(read)]);
  return table.toString();
};

/** The same for machines; amounts as decimal strings. */
export const jsonOf = (parts: readonly Part[]): string =>
  JSON.stringify({ ...verdictOf(parts), parts }, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );

/** What to try next. The key is shown only when the server is left running. */
export const nextSteps = (kept?: { readonly baseUrl: string; readonly key: string }): string[] => {
  if (kept === undefined)
    return [
      'What to try next:',
      '  npm run demo -- --keep                      leave it running, to try the interface yourself',
      '  npm run demo -- --trace FILE --speed max    play a trace of your own (TIMESTAMP,ContextTokens,GeneratedTokens)',
      '  npm run bench                               how fast, and what a bare Redis, Postgres and server would do',
      '  npm run bench:overspend                     a million reserves at once, beside GET and DECRBY',
    ];
  const { baseUrl, key } = kept;
  return [
    'The server is up:',
    `  export HOLDFAST_URL=${baseUrl} HOLDFAST_KEY=${key}`,
    'What to try next:',
    `  open ${baseUrl}/docs`,
    '  curl -s $HOLDFAST_URL/v1/accounts -H "Authorization: Bearer $HOLDFAST_KEY" -H \'holdfast-tenant: me\' \\',
    '    -H \'content-type: application/json\' -d \'{"id":"me","unit":"USD"}\'',
    '  npx holdfast replay-trace FILE              the sum of a trace, checked to the micro-dollar',
  ];
};
