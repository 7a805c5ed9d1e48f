export type PricingErrorCode =
  /** A price, a token count, or a rounding choice that is not one. */
  | 'bad_price'
  | 'bad_usage'
  /** The file is not JSON, or not of LiteLLM's shape. */
  | 'bad_price_file'
  /** The file has no such model, or no price per token for it. */
  | 'unknown_model'
  | 'model_not_priced_by_token'
  /** The cost leaves 64 bits. */
  | 'cost_overflow';

/** Money could not be worked out. The message names what is wrong and where. */
export class PricingError extends Error {
  override readonly name = 'PricingError';
  constructor(
    readonly code: PricingErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
