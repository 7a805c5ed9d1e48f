import { isLosslessNumber } from 'lossless-json';
import type { LosslessNumber } from 'lossless-json';
import { ArrayFormatter, ParseResult, Schema } from '../../events/schema.js';
import { PricingError } from './errors.js';
import type { Price, Rates, Tier } from './price.js';
import { parseDecimal } from './rational.js';
import type { Rational } from './rational.js';

type Entry = Readonly<Record<string, unknown>>;

const NumberText = Schema.Union(
  Schema.declare((value: unknown): value is LosslessNumber => isLosslessNumber(value)),
  Schema.String,
);

const RationalFromSelf = Schema.declare(
  (value: unknown): value is Rational => typeof value === 'object' && value !== null && 'denominator' in value,
);

const fromText = <A, I>(to: Schema.Schema<A, I>, what: string, read: (decimal: Rational) => I | undefined) =>
  Schema.transformOrFail(NumberText, to, {
    strict: true,
    decode: (value, _options, ast) => {
      const text = typeof value === 'string' ? value : value.value;
      const decimal = parseDecimal(text);
      const result = decimal === undefined ? undefined : read(decimal);
      return result === undefined
        ? ParseResult.fail(new ParseResult.Type(ast, value, `${text.slice(0, 80)} is not ${what}`))
        : ParseResult.succeed(result);
    },
    encode: (value, _options, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, value, 'prices are only read')),
  });

const CostPerToken = fromText(RationalFromSelf, 'a price of a token', (decimal) => decimal);

/** A whole number of tokens, which LiteLLM also writes as 32000.0. */
const TokenCount = fromText(Schema.BigIntFromSelf, 'a whole number of tokens', ({ numerator, denominator }) =>
  numerator % denominator === 0n ? numerator / denominator : undefined,
);

const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema));

/** The rate members, which also stand inside a tier. */
const RATE_FIELDS = {
  input_cost_per_token: maybe(CostPerToken),
  output_cost_per_token: maybe(CostPerToken),
  cache_read_input_token_cost: maybe(CostPerToken),
  cache_creation_input_token_cost: maybe(CostPerToken),
} as const;
type RateKey = keyof typeof RATE_FIELDS;

type RateMembers = Schema.Struct.Type<typeof RATE_FIELDS>;

const EntrySchema = Schema.Struct({
  ...RATE_FIELDS,
  max_input_tokens: maybe(TokenCount),
  max_output_tokens: maybe(TokenCount),
  /** The old name of max_output_tokens. */
  max_tokens: maybe(TokenCount),
  tiered_pricing: maybe(Schema.Array(Schema.Struct({ ...RATE_FIELDS, range: Schema.Tuple(TokenCount, TokenCount) }))),
});
type EntryMembers = typeof EntrySchema.Type;

const decodeMembers = Schema.decodeUnknownEither(EntrySchema);
const decodeCost = Schema.decodeUnknownEither(CostPerToken);

/** `input_cost_per_token_above_200k_tokens`: past 200,000 prompt tokens the whole request costs this instead. */
const ABOVE_PATTERN = /^(.+)_above_(\d{1,6})k_tokens$/;
const isRateKey = (key: string): key is RateKey => key in RATE_FIELDS;

const fail = (name: string, model: string, key: string, why: string): never => {
  throw new PricingError('bad_price_file', `${name}: ${model}.${key}: ${why}`);
};

const failParse = (name: string, model: string, key: string, error: ParseResult.ParseError): never => {
  const [issue] = ArrayFormatter.formatErrorSync(error);
  const path = [...(key === '' ? [] : [key]), ...(issue?.path ?? [])].map(String).join('.');
  return fail(name, model, path, issue?.message ?? 'is wrong');
};

/** True when a model is charged by the token: it has a price of input tokens, or tiers. Null counts as absent. */
export const isPricedByToken = (entry: Entry): boolean =>
  (entry['input_cost_per_token'] ?? undefined) !== undefined || (entry['tiered_pricing'] ?? undefined) !== undefined;

const ratesOf = (members: RateMembers): Rates | undefined => {
  const { input_cost_per_token: input, output_cost_per_token: output } = members;
  const { cache_read_input_token_cost: cacheRead, cache_creation_input_token_cost: cacheWrite } = members;
  if (!input || !output) return undefined;
  return { input, output, ...(cacheRead ? { cacheRead } : {}), ...(cacheWrite ? { cacheWrite } : {}) };
};

type Fail = (key: string, why: string) => never;

/** Tiers by `…_above_Nk_tokens`: what such a tier does not name stays as below it. */
const tiersAbove = (base: RateMembers, entry: Entry, onCost: (key: string, value: unknown) => Rational): Tier[] => {
  const above = new Map<bigint, Partial<Record<RateKey, Rational>>>();
  for (const [key, value] of Object.entries(entry)) {
    const [, rate, thousands] = ABOVE_PATTERN.exec(key) ?? [];
    if (rate === undefined || thousands === undefined || !isRateKey(rate) || value === null) continue;
    const from = BigInt(thousands) * 1000n;
    above.set(from, { ...above.get(from), [rate]: onCost(key, value) });
  }
  return [...above]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([aboveInputTokens, members]) => {
      const rates = ratesOf({ ...base, ...members });
      return rates === undefined ? [] : [{ aboveInputTokens, rates }];
    });
};

const tiersListed = (listed: NonNullable<EntryMembers['tiered_pricing']>, bad: Fail): [Tier, ...Tier[]] => {
  let expected = 0n;
  const tiers = listed.map((tier, index): Tier => {
    const [from, to] = tier.range;
    if (from !== expected || to <= from)
      bad(`tiered_pricing.${index}.range`, 'the ranges must start at 0 and follow on each other');
    expected = to;
    const rates =
      ratesOf(tier) ?? bad(`tiered_pricing.${index}`, 'needs input_cost_per_token and output_cost_per_token');
    return { aboveInputTokens: from, rates };
  });
  const [first, ...rest] = tiers;
  return first === undefined ? bad('tiered_pricing', 'has no tier') : [first, ...rest];
};

const tiersOf = (members: EntryMembers, entry: Entry, bad: Fail, onCost: Parameters<typeof tiersAbove>[2]) => {
  if (members.tiered_pricing) return tiersListed(members.tiered_pricing, bad);
  const rates = ratesOf(members) ?? bad('output_cost_per_token', 'is missing');
  const tiers: [Tier, ...Tier[]] = [{ aboveInputTokens: 0n, rates }, ...tiersAbove(members, entry, onCost)];
  return tiers;
};

/**
 * The price of one model from its entry in LiteLLM's format; `name` is what messages call the file.
 * @throws PricingError `bad_price_file`, naming model and key.
 */
export const decodeEntry = (model: string, entry: Entry, name: string): Price => {
  const bad: Fail = (key, why) => fail(name, model, key, why);
  const decoded = decodeMembers(entry);
  if (decoded._tag === 'Left') return failParse(name, model, '', decoded.left);
  const members = decoded.right;
  const onCost = (key: string, value: unknown): Rational => {
    const cost = decodeCost(value);
    return cost._tag === 'Right' ? cost.right : failParse(name, model, key, cost.left);
  };
  const maxOutputTokens = members.max_output_tokens ?? members.max_tokens;
  return {
    model,
    tiers: tiersOf(members, entry, bad, onCost),
    ...(members.max_input_tokens ? { maxInputTokens: members.max_input_tokens } : {}),
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
  };
};
