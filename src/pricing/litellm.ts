import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { isLosslessNumber, parse } from 'lossless-json';
import { PricingError } from './errors.js';
import { decodeEntry, isPricedByToken } from './litellm-entry.js';
import type { Price } from './price.js';

/** The prices of a file. */
export interface PriceBook {
  /** The models that have a price per token, in the file's order. */
  readonly models: readonly string[];
  /** @throws PricingError `unknown_model` or `model_not_priced_by_token`. */
  priceOf(model: string): Price;
}

/** LiteLLM's own file has 1 to 2 MB. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** The entry in LiteLLM's file that explains the others in words. */
const SAMPLE = 'sample_spec';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);

const parseText = (text: string, name: string): Readonly<Record<string, unknown>> => {
  let parsed: unknown;
  try {
    // Numbers stay the text that they are: 2.5e-06 never becomes a float.
    parsed = parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PricingError('bad_price_file', `${name} is not JSON: ${why}`, { cause: error });
  }
  if (isObject(parsed)) return parsed;
  throw new PricingError('bad_price_file', `${name} must hold one JSON object, with a member for each model.`);
};

/**
 * Reads prices in the format of LiteLLM's `model_prices_and_context_window.json`: dollars a token, as JSON numbers or
 * decimal strings. Members that say nothing about the price of a token (and they are many) are left alone; models without a
 * price per token (images, seconds of audio) are known, and refused by name when their price is asked for.
 * `name` is what messages call the text.
 * @throws PricingError `bad_price_file`, naming the model and the key that is wrong.
 */
export const readPrices = (text: string, name = 'The price file'): PriceBook => {
  const prices = new Map<string, Price>();
  const unpriced = new Set<string>();
  for (const [model, entry] of Object.entries(parseText(text, name))) {
    if (model === SAMPLE) continue;
    if (!isObject(entry)) throw new PricingError('bad_price_file', `${name}: ${model} is not a JSON object.`);
    if (isPricedByToken(entry)) prices.set(model, decodeEntry(model, entry, name));
    else unpriced.add(model);
  }
  const priceOf = (model: string): Price => {
    const price = prices.get(model);
    if (price !== undefined) return price;
    if (unpriced.has(model))
      throw new PricingError('model_not_priced_by_token', `${name} has no price per token for ${model}.`);
    const some = [...prices.keys()].slice(0, 8).join(', ');
    throw new PricingError('unknown_model', `${name} has no model ${model}; it has ${some}, …`);
  };
  return { models: [...prices.keys()], priceOf };
};

/**
 * Reads a price file from disk.
 * @throws PricingError `bad_price_file` also when the file can't be read or is larger than 64 MiB.
 */
export const loadPrices = async (file: string): Promise<PriceBook> => {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) throw new Error(`it has ${size} bytes, more than a price file can have`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PricingError('bad_price_file', `Cannot read ${file}: ${why}`, { cause: error });
  }
  return readPrices(text, file);
};

/** The prices that come with Holdfast (data/prices.json): list prices of well-known models, for the demo and for trying things out. */
export const builtInPrices = (): Promise<PriceBook> =>
  loadPrices(createRequire(import.meta.url).resolve('#data/prices.json'));
