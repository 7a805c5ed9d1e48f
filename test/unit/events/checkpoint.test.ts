import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MalformedCheckpointError,
  NoteRefusedError,
  checkpointText,
  contradictionBetween,
  genesisHash,
  makeNoteKey,
  openNote,
  parseCheckpoint,
  parseVerifierKey,
  readNoteSigner,
  verifierKeyText,
} from '../../../events/index.js';
import type { LogCheckpoint } from '../../../events/index.js';

const LEDGER = '0190b6a4-7c1e-7d5a-9a63-5f2f0f6f3b11';

const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const checkpoints: fc.Arbitrary<LogCheckpoint> = fc
  .record({
    ledger: fc.constant(LEDGER),
    incarnation: fc.integer({ min: 1, max: 1_000_000 }),
    timeMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    heads: fc.array(fc.record({ position: fc.nat({ max: Number.MAX_SAFE_INTEGER }), hash: hex }), {
      minLength: 1,
      maxLength: 70,
    }),
  })
  .map((c) => ({
    ...c,
    heads: c.heads.map((head, partition) =>
      head.position === 0 ? { position: 0, hash: genesisHash(LEDGER, partition) } : head,
    ),
  }));

const key = makeNoteKey('ledger.example.com/checkpoints');
const signer = readNoteSigner(key.secret, 'unused');
const other = readNoteSigner(makeNoteKey('ledger.example.com/checkpoints').secret, 'unused');

const changed = (text: string, at: number, by: string): string => text.slice(0, at) + by + text.slice(at + 1);

describe('the text of a checkpoint', () => {
  test('says what it was given, and is read back the same', () => {
    fc.assert(
      fc.property(checkpoints, (c) => {
        expect(parseCheckpoint(checkpointText(c))).toEqual(c);
      }),
    );
  });

  test('with any one character changed is refused, or says something else', () => {
    fc.assert(
      fc.property(checkpoints, fc.nat(), fc.constantFrom('0', '9', 'a', ' ', '\n', '-', 'Z'), (c, n, by) => {
        const text = checkpointText(c);
        const other = changed(text, n % text.length, by);
        if (other === text) return;
        try {
          expect(parseCheckpoint(other)).not.toEqual(c);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedCheckpointError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('anything else is refused by its own error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseCheckpoint(text)).toThrow(MalformedCheckpointError);
      }),
    );
  });

  const heads = [{ position: 5, hash: 'a'.repeat(64) }, { position: 7, hash: 'b'.repeat(64) }] as const; // prettier-ignore
  const good = checkpointText({ ledger: LEDGER, incarnation: 1, timeMs: 0, heads });
  test.each([
    ['a size that is no sum', good.replace('\n12\n', '\n13\n'), 'size'],
    ['a hash of others', good.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`), 'hash'],
    ['a leading zero', good.replace('0 5 ', '0 05 '), 'whole number'],
    ['partitions in another order', good.replace('\n1 7', '\n2 7'), 'partition 1'],
    ['no line break at its end', good.slice(0, -1), 'lines of their own'],
    ['a day that is none', good.replace('time 1970-01-01', 'time 1970-13-01'), 'time'],
    ['an empty partition that has a hash', good.replace('0 5 ', '0 0 '), 'genesis'],
    ['a position past 2^53', good.replace('0 5 ', '0 9007199254740993 '), 'whole number'],
  ])('%s is refused in words', (_what, text, words) => {
    expect(() => parseCheckpoint(text)).toThrow(words);
  });

  test('may only be followed by one that goes forward', () => {
    const at = (first: number, hash = 'a'): LogCheckpoint => ({
      ledger: LEDGER,
      incarnation: 2,
      timeMs: 0,
      heads: [{ position: first, hash: hash.repeat(64) }], // prettier-ignore
    });
    expect(contradictionBetween(at(5), at(5))).toBeUndefined();
    expect(contradictionBetween(at(5), at(6, 'b'))).toBeUndefined();
    expect(contradictionBetween(at(5), at(4))).toMatchObject({ partition: 0, position: 4 });
    expect(contradictionBetween(at(5), at(5, 'b'))).toMatchObject({ partition: 0, position: 5 });
    expect(contradictionBetween(at(5), { ...at(6), incarnation: 1 })?.what).toContain('incarnation');
    expect(contradictionBetween(at(5), { ...at(6), ledger: 'x' })?.what).toContain('ledger');
    expect(contradictionBetween(at(5), { ...at(6), heads: [...at(6).heads, ...at(6).heads] })?.what).toContain(
      'number',
    );
  });
});

describe('a signed note', () => {
  test('of the Go implementation is opened: name, key id and signature mean the same', () => {
    const known = parseVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    const text = 'If you think cryptography is the answer to your problem,\nthen you don’t know what your problem is.\n'.replace('’', "'"); // prettier-ignore
    const note = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
    expect(openNote(note, [known])).toEqual({ text, signedBy: known });
  });

  test('opens with its key, and with no change of any of its characters', () => {
    const text = checkpointText({ ledger: LEDGER, incarnation: 1, timeMs: 0, heads: [{ position: 5, hash: 'a'.repeat(64) }] }); // prettier-ignore
    const note = signer.sign(text);
    expect(openNote(note, [other.verifier, signer.verifier])).toEqual({ text, signedBy: signer.verifier });
    for (let at = 0; at < note.length; at += 1)
      for (const by of ['0', '\n', 'é'])
        if (note[at] !== by) expect(() => openNote(changed(note, at, by), [signer.verifier])).toThrow(NoteRefusedError);
  });

  test('of another key of the same name is refused, and the refusal names it', () => {
    const note = other.sign('text\n');
    expect(() => openNote(note, [signer.verifier])).toThrow(`${other.verifier.name}+${other.verifier.id}`);
    expect(() => openNote(note, [])).toThrow('no key that was given');
    const both = `${note}${signer.sign('text\n').split('\n\n')[1] ?? ''}`;
    expect(openNote(both, [signer.verifier]).signedBy).toEqual(signer.verifier);
    const wrong = `${note}${signer.sign('other\n').split('\n\n')[1] ?? ''}`;
    expect(() => openNote(wrong, [signer.verifier])).toThrow('is wrong');
  });

  test.each([
    '',
    '\n',
    'a',
    'a\n\n',
    'a\n\n— b\n',
    'a\n\n— b AAAA',
    'a\u0000\n\n— b AAAAAAAA\n',
    `${'a'.repeat(300_000)}\n\n— b AAAAAAAA\n`,
  ])(
    'no note: %#',
    (text) => expect(() => openNote(text, [signer.verifier])).toThrow(NoteRefusedError), // prettier-ignore
  );
});

describe('a key', () => {
  test('is read back from its text, and from its file', () => {
    expect(parseVerifierKey(verifierKeyText(key.verifier))).toEqual(key.verifier);
    expect(signer.verifier).toEqual(key.verifier);
    const bare = readNoteSigner(key.secret.slice(key.secret.indexOf('-----')), 'holdfast/x');
    expect(bare.verifier.name).toBe('holdfast/x');
    expect(bare.verifier.publicKey).toEqual(key.verifier.publicKey);
  });

  test.each([
    '',
    'a',
    'a+00000000+AAAA',
    verifierKeyText(key.verifier).replace('ledger', 'lodger'),
    `${verifierKeyText(key.verifier)}=`,
  ])(
    'no key: %#',
    (text) => expect(() => parseVerifierKey(text)).toThrow(NoteRefusedError), // prettier-ignore
  );

  test('with a space or a plus in its name is not made, and another’s verifier key is not believed', () => {
    expect(() => makeNoteKey('a b')).toThrow('without spaces');
    expect(() => makeNoteKey('a+b')).toThrow('without spaces');
    const mixed = `Verifier key: ${verifierKeyText(other.verifier)}\n${key.secret.slice(key.secret.indexOf('-----'))}`;
    expect(() => readNoteSigner(mixed, 'x')).toThrow('another key');
    expect(() => readNoteSigner('nothing', 'x')).toThrow('no private key');
  });
});
