import type { BaselineRecord, NodeTransaction, StoppedDaemon, Traces } from '../../model/facts/node-records.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled } from '../answers/read-answer.ts';
import { type NodeRecord, readFields, readRecords } from '../answers/records.ts';

/** A record whose head consists of a word and a name. Both are empty if the head is invalid. */
interface NamedRecord extends NodeRecord {
  readonly word: string;
  readonly name: string;
  /** Undefined if its lines are not fields. */
  readonly fields: Readonly<Record<string, string>> | undefined;
}

/** Reads a probe's records; `forms` maps each head's word to the pattern of its name. */
const readNamed = (answer: Answer | undefined, forms: Readonly<Record<string, RegExp>>) =>
  mapKnown(readRecords(answer), (records) =>
    records.map((record): NamedRecord => {
      const [, word = '', name = ''] = /^([a-z]+)(?: (.+))?$/.exec(record.head) ?? [];
      const isHead = Object.hasOwn(forms, word) && forms[word]?.test(name) === true;
      return { ...record, ...(isHead ? { word, name } : { word: '', name: '' }), fields: readFields(record.lines) };
    }),
  );

const isTwice = (texts: readonly string[]): boolean => new Set(texts).size < texts.length;

export interface FoundSeal {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A tool's exit code and its lines about several files or trees. Absent if the tool did not run. */
export interface SealList {
  readonly exit: number;
  readonly lines: readonly string[];
}

export interface SealRecords {
  readonly files: readonly FoundSeal[];
  readonly trees: readonly FoundSeal[];
  /** Names of staging folders, such as `model-kimi-0123456789abcdef`. */
  readonly staged: readonly string[];
  readonly sums?: SealList;
  readonly modes?: SealList;
  readonly counts?: SealList;
}

const listWords = ['sums', 'modes', 'counts'] as const;

const exitForm = /^\d{1,3}$/;

const sealHeads = {
  file: /^[0-9a-f]{16}$/,
  tree: /^(?:runtimes|models)\/[A-Za-z0-9._-]{1,255}\/[0-9a-f]{16}$/,
  staged: /^(?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16}$/,
  ...Object.fromEntries(listWords.map((word) => [word, exitForm])),
};

/** Reads the whole output; garbled if a record is unknown or occurs twice. */
export const readSeals = (answer: Answer | undefined): Known<SealRecords> =>
  andThen(readNamed(answer, sealHeads), (records) => {
    const all = (word: string): readonly NamedRecord[] => records.filter((one) => one.word === word);
    const double = listWords.find((word) => all(word).length > 1);
    if (double !== undefined) return garbled(answer, `printed the list of ${double} twice`);
    if (!records.every(isSealRecord)) return garbled(answer, 'printed an unknown record');
    const [files, trees, staged] = [all('file'), all('tree'), all('staged')];
    if (isTwice([...files, ...trees, ...staged].map(({ name }) => name))) {
      return garbled(answer, 'printed a seal twice');
    }
    const lists = listWords.flatMap((word) =>
      all(word).map(({ name, lines }): [string, SealList] => [word, { exit: Number(name), lines }]),
    );
    const seal = ({ name, fields = {} }: NamedRecord): FoundSeal => ({ id: name, fields });
    const names = staged.map(({ name }) => name);
    return known({ files: files.map(seal), trees: trees.map(seal), staged: names, ...Object.fromEntries(lists) });
  });

function isSealRecord({ word, fields, lines }: NamedRecord): boolean {
  if (word === 'file' || word === 'tree') return fields !== undefined;
  return word === 'staged' ? lines.length === 0 : word !== '';
}

/** A tool's list; `what` completes "… were not checked". */
export function listOr(list: SealList | undefined, what: string): Known<readonly string[]> {
  if (list === undefined) return unknown('failed', `${what} were not checked.`);
  return list.exit === 0 ? known(list.lines) : unknown('failed', `The check of ${what} exited with ${list.exit}.`);
}

/** A process with a job's PID. */
export interface JobProcess {
  readonly pid: string;
  readonly command: string;
}

/** The heads of the records of the probe `kept-records`. */
const recordHeads = {
  job: /^[A-Za-z0-9._-]{1,255}$/,
  lease: /^$/,
  hold: /^$/,
  /** An unconfirmed network change. */
  transaction: /^(?:pending|rolling)$/,
  keeper: /^$/,
  processes: exitForm,
  /** A value from before the first change. */
  baseline: /^[a-z-]{1,64}$/,
  /** A stopped daemon of other software. */
  foreign: /^[A-Za-z0-9._-]{1,255}$/,
  traces: /^$/,
};

/** Reads the whole output; garbled if a record is unknown or occurs twice. */
export const readStoredRecords = (answer: Answer | undefined) =>
  andThen(readNamed(answer, recordHeads), (records) => {
    const all = (word: keyof typeof recordHeads): readonly NamedRecord[] => records.filter((one) => one.word === word);
    const names = (word: keyof typeof recordHeads): readonly string[] => all(word).map(({ name }) => name);
    const traces = all('traces').map(tracesOf);
    const isBeforeTwice = traces.length > 1 || isTwice([...names('baseline'), ...names('foreign')]);
    if (isBeforeTwice || traces.includes(undefined)) {
      return garbled(answer, 'printed unreadable baseline values');
    }
    const [processes, ...more] = all('processes');
    const odd = records.find((one) => one.word === '' || more.includes(one) || !hasItsFields(one));
    if (odd !== undefined) {
      const isNone = odd.word === '' || odd.word === 'processes';
      return garbled(answer, isNone ? 'printed an unknown record' : `printed unreadable fields of ${odd.head}`);
    }
    for (const word of ['keeper', 'hold', 'lease'] as const) {
      if (all(word).length > 1) return garbled(answer, `printed more than one ${word}`);
    }
    for (const word of ['transaction', 'job'] as const) {
      if (isTwice(names(word))) return garbled(answer, `printed a ${word} twice`);
    }
    return known({
      jobs: all('job').map(({ name: key, fields = {} }) => ({ key, fields })),
      leases: all('lease').map(({ fields = {} }) => ({ fields })),
      holds: all('hold').map(({ fields = {} }) => ({ fields })),
      transactions: all('transaction').map(({ name, fields = {} }): NodeTransaction => {
        return { state: name === 'pending' ? 'pending' : 'rolling', fields };
      }),
      /** `last`: the keeper's last change; `hashed`: the models it hashed; `refused`: no network changes by SSH. */
      keeper: all('keeper')[0]?.fields ?? {},
      baseline: { values: all('baseline').map(baselineOf), daemons: all('foreign').map(daemonOf) },
      traces: traces[0] ?? { hasFolder: false, trees: 'none', hasSudoers: false, hasKey: false },
      /** Processes of unfinished jobs; unknown if ps failed. */
      processes:
        processes === undefined
          ? unknown('failed', 'The processes of jobs were not checked.')
          : processesOf(Number(processes.name), processes.lines),
    });
  });

/** Whether a record's fields are valid. Baseline values and ps lines can have any form. */
const hasItsFields = ({ word, fields }: NamedRecord): boolean =>
  fields !== undefined || word === 'baseline' || word === 'foreign' || word === 'processes';

const baselineOf = ({ name: key, lines }: NamedRecord): BaselineRecord =>
  lines.length === 0 ? { key } : { key, text: lines.join('\n') };

const daemonOf = ({ name: label, lines }: NamedRecord): StoppedDaemon => ({
  label,
  wasLoaded: lines.includes('was=loaded'),
  isMoved: lines.includes('plist=moved'),
});

const isTreesWord = (word: string): word is Traces['trees'] => ['none', 'theirs', 'models', 'some'].includes(word);

function tracesOf({ fields }: NamedRecord): Traces | undefined {
  const { trees = 'none' } = fields ?? {};
  if (fields === undefined || !isTreesWord(trees)) return undefined;
  const has = (key: string): boolean => fields[key] === 'yes';
  return { hasFolder: has('folder'), trees, hasSudoers: has('sudoers'), hasKey: has('key') };
}

/** ps exits with 1 if none of the numbers is a process; its other output is not about jobs. */
function processesOf(exit: number, lines: readonly string[]): Known<readonly JobProcess[]> {
  if (exit > 1) return unknown('failed', `ps exited with ${exit}.`);
  const found = lines.map((line) => /^ *(\d{1,10}) +(\S.*)$/.exec(line));
  if (found.includes(null)) return unknown('garbled', 'ps printed a line that is not a process.');
  return known(found.map((match) => ({ pid: match?.[1] ?? '', command: match?.[2] ?? '' })));
}
