/** A ledger at rest whose log was signed, and what a superuser does to it who knows how the chain is made. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chainHash, makeNoteKey, verifierKeyText } from '../../events/index.js';
import type { Config } from '../../src/config/settings.js';
import { LedgerUnderFault, until } from '../faults/ledger-under-fault.js';
import { LedgerAtRest, TENANT } from './verify-setting.js';
import { superuser } from './journal-setting.js';

export interface Signed {
  readonly rest: LedgerAtRest;
  /** With key and file. */
  readonly config: Config;
  readonly file: string;
  /** Verifier key, as text. */
  readonly key: string;
}

/** The configuration with a key and a file of checkpoints of its own. */
export const withCheckpoints = async (config: Config): Promise<Omit<Signed, 'rest'>> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-checkpoints-'));
  const { secret, verifier } = makeNoteKey('test.example/ledger');
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, secret, { mode: 0o600 });
  const file = join(folder, 'checkpoints');
  return {
    config: { ...config, checkpoints: { keyFile, file, intervalSeconds: 1 } },
    file,
    key: verifierKeyText(verifier),
  };
};

/** How many checkpoints a file holds whole. */
export const checkpointsIn = async (file: string): Promise<number> =>
  (await readFile(file, 'utf8').catch(() => '')).match(/^\u2014 .*\n\n/gm)?.length ?? 0;

/** What /readyz says of the checkpointer. */
export const checkpointerState = (ledger: LedgerUnderFault): string =>
  ledger.holdfast.bodies.states().find(({ name }) => name === 'checkpointer')?.state ?? 'none';

/** Writes the history, and has it signed once. */
export const signedAtRest = async (): Promise<Signed> => {
  const rest = await LedgerAtRest.make();
  const signed = await withCheckpoints(rest.config);
  const ledger = await LedgerUnderFault.open(signed.config, ['checkpointer']);
  await until('the log is signed', () => checkpointerState(ledger).startsWith('signed'));
  await ledger.close();
  return { rest, ...signed };
};

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** SQL that doubles the first recharge, in the log and in every row, and makes the chain and the head anew behind it. */
export const rewriteSql = async ({ rest, config }: Pick<Signed, 'rest' | 'config'>): Promise<string> => {
  const { partition } = rest;
  const rows = await superuser(config.postgres.url, `select position, encode(hash, 'hex') as hash, body from holdfast.events where partition = ${partition} order by position`); // prettier-ignore
  const statements: string[] = [];
  let prev: string | undefined;
  for (const row of rows) {
    const [position, hash, body] = [String(row['position']), String(row['hash']), String(row['body'])];
    const recharge = prev === undefined && body.includes('"type":"com.holdfast.recharged.v1"');
    if (recharge || prev !== undefined) {
      const before = prev ?? String(rows[Number(position) - 2]?.['hash']);
      const forged = recharge ? body.replaceAll('1000000"', '2000000"') : body;
      prev = chainHash(before, forged);
      statements.push(
        `update holdfast.events set body = ${text(forged)}, hash = decode('${prev}', 'hex') where partition = ${partition} and position = ${position}`,
      );
    } else if (hash === '') throw new Error('A row without hash.');
  }
  return [
    ...statements,
    `update holdfast.heads set hash = decode('${prev ?? ''}', 'hex') where partition = ${partition}`,
    `update holdfast.accounts set available = available + 1000000, funded = funded - 1000000 where account = '${TENANT}'`,
    `update holdfast.postings set available = available + 1000000, funded = funded - 1000000 where account = '${TENANT}' and position >= 2`,
    `update holdfast.fundings set amount = 2000000 where tenant = '${TENANT}' and kind = 'recharge'`,
  ].join(';');
};

/** SQL that cuts the last `count` events off a partition and sets its head back, as if they had never been. */
export const cutSql = (partition: number, count: number): string =>
  `update holdfast.heads h set position = e.position, hash = e.hash from holdfast.events e
     where h.partition = ${partition} and e.partition = ${partition} and e.position = h.position - ${count};
   delete from holdfast.events e using holdfast.heads h
     where h.partition = ${partition} and e.partition = h.partition and e.position > h.position`;
