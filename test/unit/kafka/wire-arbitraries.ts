/** Texts and messages as anybody might write them to Kafka. */
import fc from 'fast-check';

/** Any sequence of UTF-16 units, of any width, also halves of characters; now and then a long one. */
export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 100 }) },
  { weight: 1, arbitrary: fc.constantFrom('\ud800', 'a\udfffb', '') },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.string({ minLength: 1 }), fc.nat(300)).map(([text, times]) => text.repeat(times)),
  },
);

export const message = fc.record({
  key: fc.option(texts),
  value: fc.option(texts),
  headers: fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 70 }), texts, { maxKeys: 4 }),
});

export const messages = fc.array(message, { minLength: 1, maxLength: 70, size: '+1' });
