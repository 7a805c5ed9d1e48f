import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { RefusedJsonError, readJson } from './strict-json.js';

/** Makes the instance read `application/json`, and nothing else, by the strict reader. */
export const useStrictJson = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, readBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
};

const readBody = (body: Buffer): unknown => {
  if (!isUtf8(body)) throw new RefusedJsonError('syntax', undefined, 'the body is not UTF-8');
  return readJson(body.toString('utf8'));
};
