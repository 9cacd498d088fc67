import type { NodePath } from '../../model/node-path.ts';
import type { Text } from '../../model/step.ts';
import { rankLog, rankServiceLabel } from '../../node/paths/rank-paths.ts';
import type { EnvValue, RuntimeDriver } from './driver.ts';
import { joinText } from './text.ts';

/** What launchd has to know of a rank. */
export interface RankService {
  readonly placement: string;
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, EnvValue>>;
  /** The account that it runs as; absent is the ssh user. */
  readonly user?: string;
  /** How long it needs to end. */
  readonly ending: Pick<RuntimeDriver, 'graceMs' | 'interruptMs'>;
}

const exitTimeOut = ({ graceMs = 0, interruptMs = 0 }: RankService['ending']): number =>
  Math.max(leastExitTimeOut, Math.ceil((graceMs + interruptMs) / 1_000));

/** How long a rank has at least between SIGTERM and SIGKILL when macOS itself ends it, as at a shutdown; in seconds. */
const leastExitTimeOut = 10;

/** An Interactive job is throttled in neither CPU nor I/O; without the key launchd throttles both. */
const processType = 'Interactive';

/** launchd's own limit is 256: too few for the sockets, model files and libraries of a rank. */
const openFiles = 65_535;

/**
 * The property list of a rank's service, equal for equal ranks. launchd neither starts it at boot nor again after its
 * end: one rank alone is no mesh, so only a start of the whole group kicks it. Its log is there before, and the user's.
 *
 * @see launchd.plist(5): StandardOutPath, ExitTimeOut, UserName, ProcessType, SoftResourceLimits
 */
export function serviceFileText({ placement, argv, env, user, ending }: RankService): Text {
  const log = pathText(rankLog(placement));
  const entries: readonly (readonly [string, Text])[] = [
    ['EnvironmentVariables', dictionary(env)],
    ['ExitTimeOut', [`<integer>${exitTimeOut(ending)}</integer>`]],
    ['KeepAlive', ['<false/>']],
    ['Label', [element(rankServiceLabel(placement))]],
    ['ProcessType', [element(processType)]],
    ['ProgramArguments', ['<array>\n', ...argv.flatMap((word) => ['\t\t', ...wordElement(word), '\n']), '\t</array>']],
    ['RunAtLoad', ['<false/>']],
    ['SoftResourceLimits', [`<dict>\n\t\t<key>NumberOfFiles</key>\n\t\t<integer>${openFiles}</integer>\n\t</dict>`]],
    ['StandardErrorPath', log],
    ['StandardOutPath', log],
    ['UserName', wordElement([user ?? { kind: 'login-user' }])],
  ];
  const body = entries.flatMap(([key, value]) => [`\t<key>${key}</key>\n\t`, ...value, '\n']);
  return joinText([head, ...body, '</dict>\n</plist>\n']);
}

const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
`;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeXml = (text: string): string => text.replaceAll(/[&<>]/g, (one) => escapes[one] ?? one);

const element = (text: string): string => `<string>${escapeXml(text)}</string>`;

/** Inside of a property list a path is text of it too. */
const wordElement = (word: Text): Text => ['<string>', ...word.map(escapePart), '</string>'];

function escapePart(part: Text[number]): Text[number] {
  if (typeof part === 'string') return escapeXml(part);
  // The name of an account has nothing in it that XML reads.
  return part.kind === 'login-user' ? part : { ...part, path: escapeXml(part.path) };
}

const pathText = (path: NodePath): Text => wordElement([path]);

const isText = (value: EnvValue): value is Text => Array.isArray(value);

function dictionary(values: Readonly<Record<string, EnvValue>>): Text {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return ['<dict/>'];
  const lines = entries.flatMap(([key, value]) => [
    `\t\t<key>${escapeXml(key)}</key>\n\t\t`,
    ...wordElement(isText(value) ? value : [value]),
    '\n',
  ]);
  return ['<dict>\n', ...lines, '\t</dict>'];
}
