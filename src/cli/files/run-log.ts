import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { pino } from 'pino';
import { newRunId } from '../../apply/journal/journal.ts';
import { safeJson } from '../../diagnostics/escape.ts';
import { hideInFields, type ReadSecrets, secretMark } from '../../diagnostics/hide-secrets.ts';
import { given } from '../../model/given.ts';
import { eventLines, type LogEvent, type LogLevel } from './event-lines.ts';
import { cannotWrite, writingTo } from './write-file.ts';

/** The log of one command, for audits: actions and observations as JSON lines (`schemas/log-line.schema.json`). */
export type RunLog = ReturnType<typeof openRunLog>;

interface RunLogOptions {
  /** Absolute path. */
  readonly path: string;
  readonly level: LogLevel;
  readonly verb: string;
  readonly version: string;
  readonly secrets: ReadSecrets;
  /** Called once if a line after the first cannot be written. Later lines are still attempted. */
  readonly onLost: (error: Error) => void;
}

/** Fields with these names contain no secrets today. They are omitted from the log in case they ever do. */
const secretNames = ['password', 'passphrase', 'secret', 'token', 'authorization', 'apiKey', 'api_key', 'cookie'];
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * Opens a log and writes its first line. If the log cannot be written, the command ends before anything is sent.
 * @throws FleetError `cli/cannot-write`
 */
export function openRunLog({ path, level, verb, version, secrets, onLost }: RunLogOptions) {
  const runId = newRunId(new Date());
  const destination = pino.destination({ dest: openOwn(path), sync: true });
  const state: { isStarted: boolean; error?: Error } = { isStarted: false };
  destination.on('error', (error: Error) => {
    if (state.error === undefined && state.isStarted) onLost(error);
    state.error ??= error;
  });
  const logger = pino(
    {
      level,
      base: { run: runId, verb },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths, censor: secretMark },
      hooks: { streamWrite: safeJson },
    },
    destination,
  );
  const write = (event: LogEvent): void => {
    for (const { level: at, event: name, node, msg, fields = {} } of eventLines(event)) {
      const line = { event: name, ...given({ node }), ...fields };
      logger[at](hideInFields(line, secrets), secrets.hideIn(msg));
    }
  };
  write({ kind: 'verb-started', version });
  if (state.error !== undefined) throw cannotWrite(path, state.error);
  state.isStarted = true;
  let isNamed = false;
  return {
    /** Returns the name of the next journal; the first name is also the `run` of each log line. */
    nextRunId: (): string => {
      const next = isNamed ? newRunId(new Date()) : runId;
      isNamed = true;
      return next;
    },
    /** Appends an event's lines to the file before it returns. */
    write,
  };
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Opens or creates a file that only this user can access. Does not follow links or wait for the reader of a pipe. */
const openOwn = (path: string): number =>
  writingTo(path, () => {
    const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600);
    const found = fstatSync(file);
    const isOurs = found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    if (isOurs) return file;
    closeSync(file);
    throw new Error('the file exists, but other users can access it (chmod 600) or it is not a regular file');
  });
