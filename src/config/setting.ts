/** One setting: how its text (environment) or value (file) is read, and what it is for. */
export interface Setting<T> {
  /** Returns the value, or a sentence that says what is wrong (without repeating a secret). */
  readonly read: (raw: unknown) => { readonly value: T } | { readonly wrong: string };
  readonly fallback: T | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  readonly about: string;
  /** What may stand there, for the documentation. */
  readonly accepts: string;
}

type Reader<T> = Pick<Setting<T>, 'read' | 'accepts'>;

const textReader = (): Reader<string> => ({
  accepts: 'text',
  read: (raw) =>
    typeof raw === 'string' && raw.trim() !== '' ? { value: raw } : { wrong: 'must be a text that is not empty' },
});

const setting = <T>(reader: Reader<T>, about: string, fallback: T | undefined, secret = false): Setting<T> => ({
  ...reader,
  about,
  fallback,
  required: fallback === undefined,
  secret,
});

/** A text with a default. */
export const text = (fallback: string, about: string): Setting<string> => setting(textReader(), about, fallback);

/** A text of a certain form with a default; `accepts` says the form in words, after "must be". */
export const textLike = (pattern: RegExp, accepts: string, fallback: string, about: string): Setting<string> =>
  setting(
    {
      accepts,
      read: (raw) => (typeof raw === 'string' && pattern.test(raw) ? { value: raw } : { wrong: `must be ${accepts}` }),
    },
    about,
    fallback,
  );

/** Addresses hold credentials, so what is wrong with one never repeats it. */
const addressReader = (schemes: readonly string[], most: number): Reader<string> => {
  const forms = schemes.map((scheme) => `${scheme}//…`).join(' or ');
  const accepts = most > 1 ? `one or more of ${forms}, separated by commas` : forms;
  const isOne = (text: string): boolean => URL.canParse(text) && schemes.includes(new URL(text).protocol);
  return {
    accepts,
    read: (raw) => {
      const parts = typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : [];
      const right = typeof raw === 'string' && (most > 1 ? parts.every(isOne) : isOne(raw));
      return right ? { value: raw } : { wrong: `must be ${accepts}` };
    },
  };
};

/** An address without which the program refuses to start; its value is never printed. */
export const requiredAddress = (schemes: readonly string[], about: string): Setting<string> =>
  setting(addressReader(schemes, 1), about, undefined, true);

/** One or several addresses, separated by commas, without which the program refuses to start; never printed. */
export const requiredAddresses = (schemes: readonly string[], about: string): Setting<string> =>
  setting(addressReader(schemes, Number.POSITIVE_INFINITY), about, undefined, true);

/** An address that may be absent; its value is never printed. */
export const optionalAddress = (schemes: readonly string[], about: string): Setting<string | undefined> => ({
  ...addressReader(schemes, 1),
  about,
  fallback: undefined,
  required: false,
  secret: true,
});

/** A text that may be absent. */
export const optionalText = (about: string, secret = false): Setting<string | undefined> => ({
  ...textReader(),
  about,
  fallback: undefined,
  required: false,
  secret,
});

/** A whole number between `min` and `max`, both allowed. */
export const whole = (fallback: number, min: number, max: number, about: string): Setting<number> =>
  setting(
    {
      accepts: `a whole number, ${min.toString()} to ${max.toString()}`,
      read: (raw) => {
        const value = typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
        return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
          ? { value }
          : { wrong: `must be a whole number, ${min.toString()} to ${max.toString()}` };
      },
    },
    about,
    fallback,
  );

/** Yes or no, as `true` or `false`. */
export const flag = (fallback: boolean, about: string): Setting<boolean> =>
  setting(
    {
      accepts: 'true or false',
      read: (raw) => {
        if (raw === true || raw === 'true') return { value: true };
        if (raw === false || raw === 'false') return { value: false };
        return { wrong: 'must be true or false' };
      },
    },
    about,
    fallback,
  );

/** One of a closed list of words. */
export const oneOf = <const T extends string>(choices: readonly T[], fallback: T, about: string): Setting<T> =>
  setting(
    {
      accepts: choices.join(', '),
      read: (raw) => {
        const value = choices.find((choice) => choice === raw);
        return value === undefined ? { wrong: `must be one of ${choices.join(', ')}` } : { value };
      },
    },
    about,
    fallback,
  );

/** A list of choices, comma-separated in the environment. */
export const someOf = <const T extends string>(choices: readonly T[], about: string): Setting<readonly T[]> =>
  setting<readonly T[]>(
    {
      accepts: `some of ${choices.join(', ')}, separated by commas`,
      read: (raw) => {
        const parts: unknown[] =
          typeof raw === 'string' ? raw.split(',').map((p) => p.trim()) : Array.isArray(raw) ? raw : [];
        const value = parts.flatMap((part) => choices.find((choice) => choice === part) ?? []);
        return value.length === 0 || value.length !== parts.length
          ? { wrong: `must be some of ${choices.join(', ')}, separated by commas` }
          : { value };
      },
    },
    about,
    choices,
  );

const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/;

const isHostAndPort = (part: unknown): part is string => {
  const port = typeof part === 'string' ? Number(HOST_AND_PORT.exec(part)?.[1]) : 0;
  return port >= 1 && port <= 65_535;
};

/** `host:port`, one or several, separated by commas in the environment; an IPv6 host stands in brackets. */
export const requiredHosts = (about: string): Setting<readonly string[]> =>
  setting<readonly string[]>(
    {
      accepts: 'one or more of host:port, separated by commas',
      read: (raw) => {
        const parts: unknown[] =
          typeof raw === 'string' ? raw.split(',').map((p) => p.trim()) : Array.isArray(raw) ? raw : [];
        const value = parts.filter(isHostAndPort);
        return value.length === 0 || value.length !== parts.length
          ? { wrong: 'must be one or more of host:port, separated by commas' }
          : { value };
      },
    },
    about,
    undefined,
  );
