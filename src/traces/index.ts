/** Requests to play: recorded ones, generated ones, and the pace at which they come. */
export { readTrace, readTraceFile } from './azure.js';
export { generateTrace, type GenerateOptions } from './generate.js';
export { paced, parseSpeed, type Clock, type Speed } from './pace.js';
export { pick, seededRandom, type Random } from './random.js';
export { TraceError, type TraceRequest } from './request.js';
