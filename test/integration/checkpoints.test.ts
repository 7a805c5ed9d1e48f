import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chainHash,
  checkpointText,
  makeNoteKey,
  messageOf,
  parseCheckpoint,
  readNoteSigner,
  splitMessage,
  splitNote,
  verifierKeyText,
} from '../../events/index.js';
import { checkCheckpoints, proveEvent } from '../../src/compose/prove.js';
import { verifyWith } from '../../src/compose/verify.js';
import type { Config } from '../../src/config/settings.js';
import type { CheckpointsVerdict } from '../../src/recovery/verify-checkpoints.js';
import { runProgram } from '../faults/built-program.js';
import { LedgerUnderFault, until } from '../faults/ledger-under-fault.js';
import { checkpointerState, cutSql, rewriteSql, signedAtRest } from './checkpoints-setting.js';
import type { Signed } from './checkpoints-setting.js';
import { verifyAtRest } from './verify-setting.js';

/*
 * A log that was signed can't be changed unseen by anybody, whatever rights he has to the database.
 */

let signed: Signed;
beforeAll(async () => {
  signed = await signedAtRest();
});
afterAll(() => signed.rest.drop());

const withLedger = async <T>(config: Config, body: (ledger: LedgerUnderFault) => Promise<T>): Promise<T> => {
  const ledger = await LedgerUnderFault.open(config, []);
  try {
    return await body(ledger);
  } finally {
    await ledger.close();
  }
};

const check = (config: Config, file = signed.file, keys = [signed.key]): Promise<CheckpointsVerdict> =>
  withLedger(config, async ({ holdfast }) => (await checkCheckpoints(holdfast, file, keys)).verdict);

describe('holding the log to its checkpoints', () => {
  test('finds nothing where nothing was touched, in Postgres and on Kafka', async () => {
    await withLedger(signed.config, async ({ holdfast }) => {
      const checkpoints = await checkCheckpoints(holdfast, signed.file, [signed.key]);
      const report = await verifyWith(holdfast, () => undefined, { checkpoints });
      expect(report).toMatchObject({ postgres: 0, kafka: 0 });
      expect(checkpoints.verdict).toMatchObject({ checkpoints: 1, places: 2, count: 0, findings: [] });
    });
  });

  test('finds an amount that a superuser changed, chain, head and rows made anew, which the chain alone does not show', async () => {
    const { partition } = signed.rest;
    const url = await signed.rest.withDatabase(await rewriteSql(signed));
    const config = { ...url, checkpoints: signed.config.checkpoints };
    expect(await verifyAtRest(config, true)).toMatchObject({ postgres: 0 });
    const verdict = await check(config);
    expect(verdict).toMatchObject({ count: 1, findings: [{ where: 'postgres', partition, checkpoint: 1 }] });
    expect(verdict.findings[0]?.what).toContain('rewritten');
  });

  test('finds a tail that was cut off, naming partition and position', async () => {
    const { partition, messages } = signed.rest;
    const cut = await signed.rest.withDatabase(cutSql(partition, 3));
    const verdict = await check({ ...cut, checkpoints: signed.config.checkpoints });
    expect(verdict).toMatchObject({
      count: 1,
      findings: [{ where: 'postgres', partition, position: messages.length }],
    });
    expect(verdict.findings[0]?.what).toContain('cut off');
  });

  test('finds a rewritten log on Kafka while Postgres is whole', async () => {
    const forged = await signed.rest.withTopic((messages) => {
      let prev: string | undefined;
      return messages.map((message) => {
        const { body, prevHash, hash } = splitMessage(message) ?? { body: '', prevHash: '', hash: '' };
        const touched = prev !== undefined || body.includes('"1000000"');
        const [before, changed] = [prev ?? prevHash, body.replaceAll('1000000"', '2000000"')];
        prev = touched ? chainHash(before, changed) : undefined;
        return messageOf({ body: changed, prevHash: before, hash: prev ?? hash });
      });
    });
    await withLedger(forged, async ({ holdfast }) => {
      const checkpoints = await checkCheckpoints(holdfast, signed.file, [signed.key]);
      const report = await verifyWith(holdfast, () => undefined, { checkpoints, catchUpMs: 0 });
      expect(report).toMatchObject({ postgres: 0 });
      const { partition, messages } = signed.rest;
      const [found] = checkpoints.verdict.findings;
      expect(found).toMatchObject({ where: 'kafka', partition, position: messages.length, checkpoint: 1 });
      expect(checkpoints.verdict.count).toBe(1);
    });
  });
});

describe('checkpoints that are not believed', () => {
  test('another key', async () => {
    const key = verifierKeyText(makeNoteKey('test.example/ledger').verifier);
    const verdict = await check(signed.config, signed.file, [key]);
    expect(verdict).toMatchObject({ count: 1, places: 0 });
    expect(verdict.findings[0]?.what).toContain('by no key that was given');
  });

  test('a changed byte', async () => {
    const path = `${signed.file}.changed`;
    const content = await readFile(signed.file, 'utf8');
    await writeFile(path, content.replace(/\nincarnation 1\n/, '\nincarnation 2\n'));
    const verdict = await check(signed.config, path);
    expect(verdict.findings).toMatchObject([{ where: 'file', checkpoint: 1 }]);
    expect(verdict.findings[0]?.what).toContain('is wrong');
  });

  test('an order in which a partition goes back', async () => {
    const path = `${signed.file}.order`;
    const note = (await readFile(signed.file, 'utf8')).slice(0, -1);
    const signer = readNoteSigner(await readFile(signed.config.checkpoints.keyFile ?? '', 'utf8'), 'x');
    const now = parseCheckpoint(splitNote(note).text);
    const { partition } = signed.rest;
    const [event] = await withLedger(signed.config, ({ holdfast }) => holdfast.readEvents(partition, 0, 1));
    const heads = now.heads.map((head, n) => (n === partition ? { position: 1, hash: event?.hash ?? '' } : head));
    await writeFile(path, `${note}\n${signer.sign(checkpointText({ ...now, heads }))}\n`);
    const verdict = await check(signed.config, path);
    expect(verdict.findings).toMatchObject([{ where: 'file', checkpoint: 2, partition, position: 1 }]);
    expect(verdict.findings[0]?.what).toContain('goes back');
  });

  test('an empty file proves nothing, and says so', async () => {
    const path = `${signed.file}.empty`;
    await writeFile(path, '');
    expect((await check(signed.config, path)).findings[0]?.what).toContain('nothing is proven');
  });
});

test.each([
  ['rewritten', 'is not the one that was signed', (s: Signed) => rewriteSql(s)],
  ['cut off', 'goes back', (s: Signed) => Promise.resolve(cutSql(s.rest.partition, 3))],
] as const)(
  'a log that was %s is not signed again: that is said, and nothing is written',
  async (_what, words, sql) => {
    const hurt = await signed.rest.withDatabase(await sql(signed));
    const before = await readFile(signed.file, 'utf8');
    const ledger = await LedgerUnderFault.open({ ...hurt, checkpoints: signed.config.checkpoints }, ['checkpointer']);
    await until('it refuses', () => checkpointerState(ledger).startsWith('signs nothing any more'));
    expect(checkpointerState(ledger)).toContain(words);
    expect(ledger.holdfast.bodies.states().find(({ name }) => name === 'checkpointer')?.ok).toBe(false);
    expect(await ledger.holdfast.metrics.text()).toContain('holdfast_checkpoint_refused 1');
    await ledger.close();
    expect(await readFile(signed.file, 'utf8')).toBe(before);
  },
);

test('the command line says it in words and by its exit code', async () => {
  const command = ['verify', '--checkpoints', signed.file, '--checkpoint-key', signed.key];
  const fine = runProgram(signed.config, ...command);
  expect(fine.stdout).toContain('1 checkpoints, 2 places of the log compared, 0 contradictions');
  expect(fine.status).toBe(0);
  const forged = runProgram(await signed.rest.withDatabase(await rewriteSql(signed)), ...command, '--checkpoints-only');
  const place = `partition ${signed.rest.partition}, position ${signed.rest.messages.length}`;
  expect(forged.stdout).toContain(`postgres, ${place}, checkpoint 1: the event is not the one that was signed`);
  expect(forged.status).toBe(1);
  expect(runProgram(signed.config, 'verify', '--checkpoints', signed.file, '--checkpoint-key', 'x').status).toBe(2);
  // Three whole programs are started.
}, 90_000);

const python = (key: string, proof: string) =>
  spawnSync('python3', [fileURLToPath(new URL('check_proof.py', import.meta.url)), key], {
    input: proof,
    encoding: 'utf8',
  });

describe('the proof of an event', () => {
  const proofOf = (config: Config, position: number, file?: string): Promise<string> =>
    withLedger(config, async ({ holdfast }) => {
      const event = `${holdfast.identity.ledger}.${signed.rest.partition}.${position}`;
      let proof = '';
      for await (const line of proveEvent(holdfast, event, { file, keys: [signed.key] })) proof += line;
      return proof;
    });

  test.each([1, 4])('at position %i is checked by a script with the public key alone', async (position) => {
    const proof = await proofOf(signed.config, position, signed.file);
    const { stdout, status } = python(signed.key, proof);
    expect(stdout).toContain(`the chain holds over ${signed.rest.messages.length - position + 1} events`);
    expect(status).toBe(0);
  });

  test('comes from the topic where there is no file', async () => {
    const config: Config = { ...signed.config, checkpoints: { ...signed.config.checkpoints, file: undefined } };
    expect(await proofOf(config, 2)).toBe(await proofOf(signed.config, 2));
  });

  test('is refused by the script when an amount, an event, or the key is another', async () => {
    const proof = await proofOf(signed.config, 2);
    const other = verifierKeyText(makeNoteKey('test.example/ledger').verifier);
    for (const [key, text] of [
      [signed.key, proof.replace('1000000', '2000000')],
      [
        signed.key,
        proof
          .split('\n')
          .filter((_, n) => n !== 2)
          .join('\n'),
      ],
      [signed.key, proof.replace('"position":2', '"position":3')],
      [other, proof],
    ] as const)
      expect(python(key, text).status).not.toBe(0);
  });

  test('is not given of a log that was rewritten, of an event that nothing covers, or of another ledger', async () => {
    const forged = await signed.rest.withDatabase(await rewriteSql(signed));
    await expect(proofOf({ ...forged, checkpoints: signed.config.checkpoints }, 2)).rejects.toThrow('it was rewritten');
    await expect(proofOf(signed.config, 1_000)).rejects.toThrow('covers');
    await withLedger(signed.config, async ({ holdfast }) => {
      const lines = proveEvent(holdfast, 'other.0.1', { keys: [signed.key] });
      await expect(lines.next()).rejects.toThrow('another ledger');
    });
  });
});
