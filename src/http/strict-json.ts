/**
 * A JSON reader for what callers send. JSON.parse will not do: it turns `1e3` into 1000, `9007199254740993` into
 * 9007199254740992 and `1e309` into Infinity, keeps the last of two members of one name, and takes `__proto__` for a
 * name like any other. Money must not go through any of these, so they are refused here, by the name of the field.
 */

/** Deepest nesting of arrays and objects. */
const DEPTH_MAX = 32;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** What after a number would make it another one: `01`, `1.`, `0x10`. */
const GOES_ON = /[\w.+-]/;
const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const NEEDS_UNESCAPING = /[\\\u0000-\u001f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const BLANK = /[ \t\n\r]*/y;

/** Raised for text that is not JSON, or is JSON of a kind that is refused. `field` is where, when that is known. */
export class RefusedJsonError extends Error {
  override readonly name = 'RefusedJsonError';
  constructor(
    /** `syntax`: not JSON at all. `content`: JSON that could be read in two ways or not kept as it came. */
    readonly kind: 'syntax' | 'content',
    readonly field: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

export type PathStep = string | number;

/** Writes a path as callers know it: `amounts.USD`, `commands[3].amount`. Undefined for the body itself. */
export const fieldAt = (path: readonly PathStep[]): string | undefined =>
  path.length === 0
    ? undefined
    : path.reduce<string>((text, step) => {
        if (typeof step === 'number') return `${text}[${step.toString()}]`;
        return text === '' ? step : `${text}.${step}`;
      }, '');

/**
 * Reads one JSON value. Numbers are whole, without exponent, within ±(2^53 − 1); inside a member `metadata` of the body
 * (or of a command of a batch), which is the caller's own, fractions and exponents are accepted as well.
 * Raises RefusedJsonError.
 */
export const readJson = (text: string): unknown => new JsonReader(text).document();

class JsonReader {
  private at = 0;
  private readonly path: PathStep[] = [];

  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.value(false);
    this.skipBlank();
    if (this.at < this.text.length) this.fail('syntax', 'is followed by something else');
    return value;
  }

  private value(own: boolean): unknown {
    this.skipBlank();
    switch (this.text.charCodeAt(this.at)) {
      case 0x22: // "
        return this.string();
      case 0x7b: // {
        return this.nested(() => this.object(own));
      case 0x5b: // [
        return this.nested(() => this.array(own));
      case 0x74: // t
        return this.word('true', true);
      case 0x66: // f
        return this.word('false', false);
      case 0x6e: // n
        return this.word('null', null);
      default:
        return this.number(own);
    }
  }

  private nested<T>(read: () => T): T {
    if (this.path.length >= DEPTH_MAX) this.fail('content', `is nested deeper than ${DEPTH_MAX.toString()} levels`);
    return read();
  }

  private object(own: boolean): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    this.at++;
    if (this.takes(0x7d)) return members;
    do {
      this.skipBlank();
      if (this.text.charCodeAt(this.at) !== 0x22) this.fail('syntax', 'has a member without a name in double quotes');
      const name = this.string();
      this.path.push(name);
      if (name === '__proto__') this.fail('content', 'is a name that is not accepted');
      if (Object.hasOwn(members, name)) this.fail('content', 'is given twice');
      if (!this.takes(0x3a)) this.fail('syntax', 'has no colon after its name');
      members[name] = this.value(own || this.isCallersOwn(name));
      this.path.pop();
    } while (this.takes(0x2c));
    if (!this.takes(0x7d)) this.fail('syntax', 'is not closed properly');
    return members;
  }

  private array(own: boolean): unknown[] {
    const items: unknown[] = [];
    this.at++;
    if (this.takes(0x5d)) return items;
    do {
      this.path.push(items.length);
      items.push(this.value(own));
      this.path.pop();
    } while (this.takes(0x2c));
    if (!this.takes(0x5d)) this.fail('syntax', 'is not closed properly');
    return items;
  }

  /** `metadata` of the body, and of a command of a batch (`commands[n].metadata`). */
  private isCallersOwn(name: string): boolean {
    return name === 'metadata' && (this.path.length === 1 || (this.path.length === 3 && this.path[0] === 'commands'));
  }

  private string(): string {
    const begin = this.at + 1;
    let end = this.text.indexOf('"', begin);
    while (end !== -1 && this.isEscaped(end, begin)) end = this.text.indexOf('"', end + 1);
    if (end === -1) this.fail('syntax', 'has a text that does not end');
    this.at = end + 1;
    const raw = this.text.slice(begin, end);
    return NEEDS_UNESCAPING.test(raw) ? this.unescape(raw) : raw;
  }

  private isEscaped(quote: number, begin: number): boolean {
    let backslashes = 0;
    while (quote - backslashes > begin && this.text.charCodeAt(quote - backslashes - 1) === 0x5c) backslashes++;
    return backslashes % 2 === 1;
  }

  /** What Postgres can't keep, and what is no text at all, is refused: it could not be given back as it came. */
  private unescape(raw: string): string {
    let text: string;
    try {
      text = JSON.parse(`"${raw}"`) as string;
    } catch {
      return this.fail('syntax', 'has a control character or an escape that JSON does not know');
    }
    if (text.includes('\0')) this.fail('content', 'has the character U+0000');
    if (LONE_SURROGATE.test(text)) this.fail('content', 'has half of a surrogate pair');
    return text;
  }

  private number(own: boolean): number {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    const end = this.at + (text?.length ?? 0);
    if (text === undefined || GOES_ON.test(this.text.charAt(end))) return this.fail('syntax', 'is not JSON');
    this.at = end;
    const value = Number(text);
    const plain = PLAIN_INTEGER.test(text);
    if (plain && Number.isSafeInteger(value)) return value;
    if (!own)
      this.fail(
        'content',
        'is a number with a fraction or an exponent, or beyond 2^53 - 1; give it as a decimal string',
      );
    if (plain || !Number.isFinite(value))
      this.fail('content', 'is a number that can not be kept exactly; give it as a string');
    return value;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('syntax', 'is not JSON');
    this.at += word.length;
    return value;
  }

  private takes(code: number): boolean {
    this.skipBlank();
    if (this.text.charCodeAt(this.at) !== code) return false;
    this.at++;
    return true;
  }

  private skipBlank(): void {
    const code = this.text.charCodeAt(this.at);
    if (code > 0x20) return;
    BLANK.lastIndex = this.at;
    BLANK.exec(this.text);
    this.at = BLANK.lastIndex;
  }

  private fail(kind: RefusedJsonError['kind'], what: string): never {
    const field = fieldAt(this.path);
    throw new RefusedJsonError(kind, field, `${field ?? 'the body'} ${what}`);
  }
}
