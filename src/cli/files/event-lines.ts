import type { RunEvent } from '../../apply/run-events.ts';
import type { Severity } from '../../diagnostics/code-entry.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { jsonText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Json } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { exitText } from '../../model/probe.ts';
import type { StepOutcome } from '../../model/step.ts';
import { subjectNodes, subjectText } from '../../model/subject.ts';
import type { RemoteEvent } from '../../remote/remote.ts';

export type LogEvent =
  | RunEvent
  | RemoteEvent
  | { readonly kind: 'verb-started'; readonly version: string }
  | { readonly kind: 'verb-ended'; readonly exit: number }
  /** A plan before its run, or the final check after it. */
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'finding'; readonly diagnostic: Diagnostic };

/** Log levels, lowest first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** One log line, without its time and run. */
interface EventLine {
  readonly level: LogLevel;
  readonly event: string;
  readonly node?: string;
  readonly msg: string;
  /** Further details by name; never the text of a command or a script. */
  readonly fields?: Readonly<Record<string, Json>>;
}

const levelOf: Readonly<Record<Severity, LogLevel>> = { error: 'error', warning: 'warn', notice: 'info' };

type Fields = NonNullable<EventLine['fields']>;

function line(event: LogEvent, level: LogLevel, msg: string, fields?: Fields): readonly EventLine[] {
  const node = 'node' in event ? event.node : undefined;
  return [{ level, event: event.kind, ...given({ node }), msg, ...given({ fields }) }];
}

/** The lines that `--events` prints for an event (`schemas/event.schema.json`), without line breaks. */
export const printedEvents = (event: LogEvent, time: string): readonly string[] =>
  eventLines(event).map(({ level, event: name, node, msg, fields = {} }) =>
    jsonText({ time, level, event: name, ...given({ node }), ...fields, msg }, 0),
  );

/** The lines of an event: usually one line, or one per problem. */
export const eventLines = (event: LogEvent): readonly EventLine[] =>
  (linesOf[event.kind] as (event: LogEvent) => readonly EventLine[])(event);

function problemLine(
  event: string,
  { severity, code, detail, subject }: Diagnostic,
  node: string | undefined = subjectNodes(subject)[0],
): EventLine {
  return {
    level: levelOf[severity],
    event,
    ...given({ node }),
    msg: plainText(detail),
    fields: { code, ...(subject === undefined ? {} : { subject: subjectText(subject) }) },
  };
}

function planLines({ changes, steps, waiting, blockers, effects, diagnostics }: Plan): readonly EventLine[] {
  const counts = { changes: changes.length, steps: steps.length, waiting: waiting.length, blockers: blockers.length };
  const msg = `plan: ${counts.changes} changes, ${counts.steps} steps, ${counts.waiting} waiting, ${counts.blockers} blockers`;
  const kinds = effects.map(({ kind }) => kind);
  return [
    { level: 'info', event: 'plan', msg, fields: { ...counts, effects: kinds } },
    ...blockers.map(
      ({ code, node, action, isHands }): EventLine => ({
        level: 'warn',
        event: 'blocker',
        node,
        msg: plainText(action),
        fields: { code, isHands },
      }),
    ),
    ...diagnostics.map((one) => problemLine('finding', one)),
  ];
}

/** Commands that are sent every few seconds in the background. */
const repeated: ReadonlySet<string> = new Set(['keep-lease', 'poll-job', 'rank-progress', 'rank-log']);

const linesOf: { readonly [K in LogEvent['kind']]: (event: Extract<LogEvent, { kind: K }>) => readonly EventLine[] } = {
  'verb-started': (event) => line(event, 'info', 'started', { version: event.version }),
  'verb-ended': (event) =>
    line(event, event.exit === 0 ? 'info' : 'warn', `exited with ${event.exit}`, { exit: event.exit }),
  finding: ({ diagnostic }) => [problemLine('finding', diagnostic)],
  plan: ({ plan }) => planLines(plan),
  connecting: (event) => line(event, 'debug', `connecting to ${event.address}`, { address: event.address }),
  'host-key': (event) => {
    const { verdict, fingerprint } = event;
    const fields = { verdict, ...given({ fingerprint }) };
    return line(event, verdict === 'accepted' ? 'info' : 'warn', `host key ${verdict}`, fields);
  },
  connected: (event) => line(event, 'info', 'connected'),
  refused: ({ kind, node, diagnostics }) => diagnostics.map((one) => problemLine(kind, one, node)),
  sent: (event) => {
    const { name, command, script } = event;
    const bytes = Buffer.byteLength(command) + Buffer.byteLength(script ?? '');
    return line(event, 'debug', `${name} is sent`, { name, bytes });
  },
  answered: (event) => {
    const { name, exit, ms } = event;
    const level = exit.kind === 'unknown' ? 'warn' : repeated.has(name) ? 'debug' : 'info';
    const end = exitText(exit);
    return line(event, level, `${name}: ${end}`, { name, end, ms });
  },
  'run-started': (event) =>
    line(event, 'info', `run with journal ${event.runId}`, { journal: event.runId, nodes: event.nodes }),
  lease: (event) => {
    const { state, holder } = event;
    const who = holder === undefined ? {} : { holder: { ...holder } };
    return line(event, leaseLevel[state], `lease ${state}`, { phase: state, ...who });
  },
  reconnecting: (event) => line(event, 'warn', `reconnecting, attempt ${event.attempt}`, { attempt: event.attempt }),
  'rescue-started': (event) => line(event, 'warn', `${event.group} failed; stopping it`, { group: event.group }),
  'plan-ended': (event) => line(event, 'info', 'plan ended'),
  'run-ended': (event) => line(event, 'info', 'run ended'),
  interrupted: (event) => line(event, 'warn', 'interrupted'),
  'step-started': ({ kind, step: { id: step, node, act, effect } }) => {
    const fields = { step, act: 'name' in act ? act.name : act.kind, effect: effect.kind };
    return [{ level: 'info', event: kind, node, msg: `${step} started`, fields }];
  },
  'step-progress': (event) => {
    const { step, text, doneBytes, totalBytes, keptBytes, activity, until, sources, feeds, sentBytes } = event;
    const bytes = given({ doneBytes, totalBytes, keptBytes, activity, until, sources, feeds, sentBytes });
    return line(event, 'debug', text ?? `${step} made progress`, { step, ...bytes });
  },
  'step-ended': ({ kind, outcome, ms, diagnostics, step: { id: step, node } }) => {
    const fields = { step, outcome, ms: Math.round(ms) };
    const ended = { level: outcomeLevel[outcome], event: kind, node, msg: `${step} ${outcome}`, fields };
    return [ended, ...diagnostics.map((one) => problemLine('finding', one, node))];
  },
};

const leaseLevel: Readonly<Record<Extract<RunEvent, { kind: 'lease' }>['state'], LogLevel>> = {
  taken: 'info',
  waiting: 'warn',
  expired: 'warn',
  refused: 'warn',
  lost: 'error',
  released: 'info',
};

const outcomeLevel: Readonly<Record<StepOutcome, LogLevel>> = {
  changed: 'info',
  unchanged: 'info',
  skipped: 'warn',
  blocked: 'warn',
  interrupted: 'warn',
  unknown: 'error',
  failed: 'error',
};
