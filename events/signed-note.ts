import { createPrivateKey, createPublicKey, generateKeyPairSync, hash as digest, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/*
 * A signed note, as C2SP's signed-note fixes it: a text that ends in a newline, an empty line, and signature lines
 *   — <key name> <base64 of: 4 bytes of key id, then the signature>
 * Only Ed25519 (type byte 1). docs/CHECKPOINTS.md says it byte by byte.
 */

/** Whose signature is believed: the public half of a key, with its name. */
export interface VerifierKey {
  readonly name: string;
  /** Four bytes in lower-case hex: SHA-256 of name, newline, type byte and public key, cut. */
  readonly id: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Whoever holds the private half. */
export interface NoteSigner {
  readonly verifier: VerifierKey;
  /** The whole note. The text ends in a newline and holds no empty line at its end. */
  sign(text: string): string;
}

/** A note that came apart, and whose signature is right. */
export interface OpenedNote {
  readonly text: string;
  readonly signedBy: VerifierKey;
}

/** A note or a key that is not believed; the message says why. */
export class NoteRefusedError extends Error {
  override readonly name = 'NoteRefusedError';
  constructor(
    readonly code: 'malformed' | 'unknown_key' | 'bad_signature' | 'bad_key',
    message: string,
  ) {
    super(message);
  }
}

/** The longest note that is looked at, in characters: 1,024 partitions take less than half. */
export const NOTE_LENGTH_MAX = 262_144;
const SIGNATURES_MAX = 16;
const ED25519 = 1;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ID_BYTES = 4;
const DASH = '\u2014';
/** No space of any kind, no plus, no control character. */
const NAME = /^[^\s+\p{Cc}\p{Z}]{1,128}$/u;
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;
const PREAMBLE = 'Verifier key: ';

const keyId = (name: string, publicKey: Uint8Array): string =>
  digest('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey]), 'hex').slice(
    0,
    2 * ID_BYTES,
  );

/** Base64 in its one right spelling. */
const fromBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
};

const keyObject = (publicKey: Uint8Array): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') },
    format: 'jwk',
  });

/** A verifier key as a line of text: `<name>+<key id>+<base64 of type byte and public key>`. */
export const verifierKeyText = ({ name, id, publicKey }: VerifierKey): string =>
  `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')}`;

/** Reads a verifier key. Raises NoteRefusedError `bad_key`. */
export const parseVerifierKey = (text: string): VerifierKey => {
  const bad = (why: string): never => {
    throw new NoteRefusedError('bad_key', `This is no verifier key (<name>+<key id>+<base64>): ${why}.`);
  };
  const [, name = '', id = '', encoded = ''] =
    /^([^+]{1,128})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,64})$/.exec(text) ?? [];
  if (!NAME.test(name)) return bad('its form is another');
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 1 + KEY_BYTES) return bad('its last part is not 33 bytes in base64');
  if (bytes[0] !== ED25519) return bad('it is not of the kind Ed25519 (1)');
  const publicKey = new Uint8Array(bytes.subarray(1));
  if (keyId(name, publicKey) !== id) return bad('its key id is not that of its name and key');
  return { name, id, publicKey };
};

const verifierOf = (name: string, key: KeyObject): VerifierKey => {
  if (!NAME.test(name))
    throw new NoteRefusedError('bad_key', 'A key’s name is 1 to 128 characters without spaces and without +.');
  const publicKey = new Uint8Array(Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url'));
  return { name, id: keyId(name, publicKey), publicKey };
};

const signerOf = (name: string, key: KeyObject): NoteSigner => {
  const verifier = verifierOf(name, createPublicKey(key));
  const prefix = Buffer.from(verifier.id, 'hex');
  return {
    verifier,
    sign: (text) => {
      if (!text.endsWith('\n') || CONTROL.test(text)) throw new RangeError('A note’s text is lines of text.');
      const signature = sign(null, Buffer.from(text), key);
      return `${text}\n${DASH} ${name} ${Buffer.concat([prefix, signature]).toString('base64')}\n`;
    },
  };
};

/** Makes a new key: the private half as the text of a file (PEM, below a line with its verifier key). Raises NoteRefusedError `bad_key`. */
export const makeNoteKey = (name: string): { readonly secret: string; readonly verifier: VerifierKey } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const verifier = verifierOf(name, publicKey);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { secret: `${PREAMBLE}${verifierKeyText(verifier)}\n${pem}`, verifier };
};

/**
 * Reads the private half from a file's text. Where no line above the PEM names it, its name is `name`.
 * Raises NoteRefusedError `bad_key`, which repeats nothing of the key.
 */
export const readNoteSigner = (secret: string, name: string): NoteSigner => {
  const begin = secret.indexOf('-----BEGIN ');
  const line = secret
    .slice(0, Math.max(begin, 0))
    .split('\n')
    .find((one) => one.startsWith(PREAMBLE));
  let key: KeyObject;
  try {
    key = createPrivateKey(secret.slice(Math.max(begin, 0)));
  } catch {
    throw new NoteRefusedError('bad_key', 'The file holds no private key in PEM.');
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new NoteRefusedError('bad_key', 'The private key is not of the kind Ed25519.');
  if (line === undefined) return signerOf(name, key);
  const said = parseVerifierKey(line.slice(PREAMBLE.length).trim());
  const signer = signerOf(said.name, key);
  if (signer.verifier.id !== said.id)
    throw new NoteRefusedError('bad_key', 'The verifier key above the private key is another key’s.');
  return signer;
};

interface Signature {
  readonly name: string;
  readonly id: string;
  readonly bytes: Buffer;
}

const malformed = (why: string): NoteRefusedError =>
  new NoteRefusedError('malformed', `This is no signed note: ${why}.`);

const signatureFrom = (line: string): Signature => {
  const [, name = '', encoded = ''] = /^\u2014 (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!NAME.test(name) || bytes === undefined || bytes.length <= ID_BYTES)
    throw malformed('a signature line is of another form');
  return { name, id: bytes.toString('hex', 0, ID_BYTES), bytes: bytes.subarray(ID_BYTES) };
};

/** The text and the signatures of a note, none of them checked. Raises NoteRefusedError `malformed`. */
export const splitNote = (note: string): { readonly text: string; readonly signatures: readonly Signature[] } => {
  if (note.length > NOTE_LENGTH_MAX) throw malformed('it is too long');
  if (CONTROL.test(note)) throw malformed('it holds a control character');
  const cut = note.lastIndexOf('\n\n');
  if (cut < 0 || !note.endsWith('\n') || cut + 2 === note.length)
    throw malformed('it has no signature below an empty line');
  const lines = note.slice(cut + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) throw malformed('it has too many signatures');
  return { text: note.slice(0, cut + 1), signatures: lines.map(signatureFrom) };
};

/**
 * Opens a note that one of these keys has signed. Signatures of other keys are passed over; a wrong one of a known key refuses the note.
 * Raises NoteRefusedError: `malformed`, `unknown_key`, `bad_signature`.
 */
export const openNote = (note: string, keys: readonly VerifierKey[]): OpenedNote => {
  const { text, signatures } = splitNote(note);
  let signedBy: VerifierKey | undefined;
  for (const { name, id, bytes } of signatures) {
    const known = keys.find((key) => key.name === name && key.id === id);
    if (known === undefined) continue;
    const right =
      bytes.length === SIGNATURE_BYTES && verify(null, Buffer.from(text), keyObject(known.publicKey), bytes);
    if (!right)
      throw new NoteRefusedError(
        'bad_signature',
        `The signature of ${name}+${id} is wrong: text or signature was changed.`,
      );
    signedBy ??= known;
  }
  if (signedBy === undefined) {
    const by = signatures.map(({ name, id }) => `${name}+${id}`).join(', ');
    throw new NoteRefusedError('unknown_key', `It is signed by ${by}, and by no key that was given.`);
  }
  return { text, signedBy };
};
