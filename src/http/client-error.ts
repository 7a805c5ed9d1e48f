import type { Socket } from 'node:net';
import { problem } from './errors/problem.js';
import type { Outcome } from './errors/problem.js';

/** Answers what is not HTTP, came too slowly or has headers too large; Node has no request for it, so it is written to the socket. */
export const onClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body, headers } = outcomeOf(error.code);
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status.toString()} ${REASONS[status] ?? 'Bad Request'}`,
    `content-type: ${headers?.['content-type'] ?? ''}`,
    `content-length: ${Buffer.byteLength(text).toString()}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
};

const REASONS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

const outcomeOf = (code: string | undefined): Outcome => {
  if (code === 'HPE_HEADER_OVERFLOW')
    return problem('headers_too_large', 'The headers are larger than this server takes.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return problem('request_timeout', 'The request did not arrive in time.');
  return problem('invalid_request', 'This is not HTTP/1.1.');
};
