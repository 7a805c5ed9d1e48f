import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { builtInPrices, costOf, loadPrices, maxCostOf, readPrices } from '../../../src/pricing/index.js';

const SHARED_PRICES = fileURLToPath(new URL('../../../../shared/data/model-prices.json', import.meta.url));

const one = (entry: string): string => `{"m": ${entry}}`;
const costing = (entry: string, inputTokens: number, outputTokens = 0): bigint =>
  costOf(readPrices(one(entry)).priceOf('m'), { inputTokens, outputTokens });

describe('a price file in LiteLLM’s format', () => {
  test('is read from the text of its numbers, not through a float', () => {
    // As a float this is 1 exactly, and the last digit is gone.
    const entry = '{"input_cost_per_token": 1.00000000000000001, "output_cost_per_token": 0}';
    const price = readPrices(one(entry)).priceOf('m');
    expect(costOf(price, { inputTokens: 1, outputTokens: 0 }, { scale: 18 })).toBe(10n ** 18n + 10n);
  });

  test.each(['2.5e-06', '2.5E-6', '0.0000025', '"2.5e-06"', '"0.0000025"', '25e-7'])(
    'takes %s for 2.5 micro-dollars',
    (n) => {
      expect(costing(`{"input_cost_per_token": ${n}, "output_cost_per_token": 0.0}`, 1_000)).toBe(2_500n);
    },
  );

  test('leaves alone what says nothing about the price of a token', () => {
    const entry = `{"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "supports_vision": true, "max_tokens": null,
      "input_cost_per_image": "cheap", "supported_modalities": ["text"], "cache_read_input_token_cost": null}`;
    expect(costing(entry, 10, 10)).toBe(30n);
  });

  test('skips the entry that explains the format', () => {
    expect(readPrices('{"sample_spec": {"input_cost_per_token": 0.0, "max_tokens": "in words"}}').models).toEqual([]);
  });

  test.each([
    ['input_cost_per_token', '{"input_cost_per_token": "free", "output_cost_per_token": 1}'],
    ['output_cost_per_token', '{"input_cost_per_token": 1, "output_cost_per_token": -1}'],
    ['output_cost_per_token', '{"input_cost_per_token": 1}'],
    [
      'cache_read_input_token_cost',
      '{"input_cost_per_token": 1, "output_cost_per_token": 1, "cache_read_input_token_cost": true}',
    ],
    ['max_output_tokens', '{"input_cost_per_token": 1, "output_cost_per_token": 1, "max_output_tokens": 0.5}'],
    [
      'input_cost_per_token_above_200k_tokens',
      '{"input_cost_per_token": 1, "output_cost_per_token": 1, "input_cost_per_token_above_200k_tokens": []}',
    ],
    [
      'tiered_pricing.1.range',
      '{"tiered_pricing": [{"input_cost_per_token": 1, "output_cost_per_token": 1, "range": [0, 10]}, {"input_cost_per_token": 1, "output_cost_per_token": 1, "range": [11, 20]}]}',
    ],
    [
      'tiered_pricing.0.input_cost_per_token',
      '{"tiered_pricing": [{"input_cost_per_token": "x", "output_cost_per_token": 1, "range": [0, 10]}]}',
    ],
  ])('is refused naming model and key: %s', (key, entry) => {
    expect(() => readPrices(one(entry), 'prices.json')).toThrow(
      expect.objectContaining({
        code: 'bad_price_file',
        message: expect.stringContaining(`prices.json: m.${key}:`) as string,
      }),
    );
  });

  test.each(['', '[]', '{"m": 1}', '{"m": {}', 'null'])('is refused when it is no such file: %j', (text) => {
    expect(() => readPrices(text)).toThrow(expect.objectContaining({ code: 'bad_price_file' }));
  });

  test('says which models it does not have, and which are not charged by the token', () => {
    const book = readPrices(
      '{"gpt": {"input_cost_per_token": 1, "output_cost_per_token": 1}, "dall-e": {"output_cost_per_image": 1}}',
    );
    expect(() => book.priceOf('gtp')).toThrow(
      expect.objectContaining({ code: 'unknown_model', message: expect.stringContaining('gpt') as string }),
    );
    expect(() => book.priceOf('dall-e')).toThrow(expect.objectContaining({ code: 'model_not_priced_by_token' }));
    expect(() => book.priceOf('toString')).toThrow(expect.objectContaining({ code: 'unknown_model' }));
  });
});

describe('prices that change with the length of the prompt', () => {
  const above = `{"input_cost_per_token": 1e-6, "output_cost_per_token": 10e-6, "max_output_tokens": 10,
    "input_cost_per_token_above_200k_tokens": 2e-6, "output_cost_per_token_above_200k_tokens": 15e-6}`;

  test('above a length, the whole request costs the higher price', () => {
    expect(costing(above, 200_000, 10)).toBe(200_100n);
    expect(costing(above, 200_001, 10)).toBe(400_002n + 150n);
  });

  test('tiers follow on each other', () => {
    const tier = (input: string, range: string) =>
      `{"input_cost_per_token": ${input}, "output_cost_per_token": 0, "range": ${range}}`;
    const entry = `{"tiered_pricing": [${tier('1e-6', '[0, 32000.0]')}, ${tier('3e-6', '[32000.0, 64000]')}]}`;
    expect(costing(entry, 32_000)).toBe(32_000n);
    expect(costing(entry, 32_001)).toBe(96_003n);
    expect(costing(entry, 70_000)).toBe(210_000n);
  });

  test('the hold covers the dearest tier that the prompt can reach', () => {
    const price = readPrices(one(above)).priceOf('m');
    expect(maxCostOf(price, 200_001)).toBe(400_152n);
    expect(maxCostOf(price, 1_000)).toBe(1_100n);
  });
});

describe('price lists', () => {
  test('that come with Holdfast can all be read, and know the most that a request can cost', async () => {
    const book = await builtInPrices();
    expect(book.models.length).toBeGreaterThan(10);
    for (const model of book.models) expect(maxCostOf(book.priceOf(model), 1_000)).toBeGreaterThan(0n);
    expect(maxCostOf(book.priceOf('gpt-4o'), 1_000)).toBe(2_500n + 163_840n);
  });

  test('that others publish', async (context) => {
    if (!existsSync(SHARED_PRICES)) context.skip('../shared/data is not here');
    const book = await loadPrices(SHARED_PRICES);
    expect(book.models).toHaveLength(19);
    expect(costOf(book.priceOf('gemini/gemini-2.5-pro'), { inputTokens: 200_001, outputTokens: 1 })).toBe(500_018n);
  });

  test('that are not there are named', async () => {
    await expect(loadPrices('/nowhere/prices.json')).rejects.toThrow(/nowhere/);
  });
});
