import { pino } from 'pino';

/** An event in the gateway's log; contains no data from requests, keys or responses. */
export type GatewayEvent =
  | { readonly kind: 'listening'; readonly address: string; readonly port: number }
  | { readonly kind: 'port-taken'; readonly port: number }
  /** `error` is only the error's name, because the error message may quote the request. */
  | { readonly kind: 'request-failed'; readonly error: string }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'failed'; readonly reason: string };

export type GatewayLog = (event: GatewayEvent) => void;

type Line = readonly [level: 'info' | 'warn' | 'error', text: string];

function lineOf(event: GatewayEvent): Line {
  switch (event.kind) {
    case 'listening':
      return ['info', `listening on ${event.address}:${event.port}`];
    case 'port-taken':
      return ['warn', `port ${event.port} is taken; waiting for it`];
    case 'request-failed':
      return ['error', `${event.error} at a request`];
    case 'stopping':
      return ['info', 'stopping'];
    case 'failed':
      return ['error', event.reason];
  }
}

/** Opens the log on standard error, which launchd appends to a file. Each event is one line of JSON. */
export function openGatewayLog(placements: readonly string[]): GatewayLog {
  const destination = pino.destination({ dest: process.stderr.fd, sync: true });
  // A full disk must not affect clients.
  destination.on('error', () => undefined);
  const logger = pino(
    {
      base: { placements },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: ['authorization', 'key', 'body', 'prompt', 'messages'],
    },
    destination,
  );
  return (event) => {
    const [level, text] = lineOf(event);
    const { kind, ...fields } = event;
    logger[level]({ event: kind, ...fields }, text);
  };
}
