import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled } from '../answers/read-answer.ts';
import { exitOfListHead, type NodeRecord, readFields, readRecords } from '../answers/records.ts';

/** A seal that was found on the node: its id or folder, and the fields of its file. */
export interface FoundSeal {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What a tool said of several files or trees: how it ended, and its lines. Absent when it was not asked. */
export interface SealList {
  readonly exit: number;
  readonly lines: readonly string[];
}

/** The records of the probe `kept-files`. */
export interface KeptSeals {
  readonly files: readonly FoundSeal[];
  readonly trees: readonly FoundSeal[];
  /** Names of staging folders, `model-kimi-0123456789abcdef`. */
  readonly staged: readonly string[];
  readonly sums?: SealList;
  readonly modes?: SealList;
  readonly counts?: SealList;
}

const listWords = ['sums', 'modes', 'counts'] as const;

/** Reads everything that the probe printed; garbled when a record is of no known kind or comes twice. */
export function readKeptSeals(answer: Answer | undefined): Known<KeptSeals> {
  const records = readRecords(answer);
  if (records.kind === 'unknown') return records;
  const files: FoundSeal[] = [];
  const trees: FoundSeal[] = [];
  const staged: string[] = [];
  const lists = new Map<string, SealList>();
  for (const record of records.value) {
    const word = listWords.find((one) => exitOfListHead(record.head, one) !== undefined);
    if (word !== undefined) {
      if (lists.has(word)) return garbled(answer, `printed two lists of ${word}`);
      lists.set(word, { exit: exitOfListHead(record.head, word) ?? 0, lines: record.lines });
      continue;
    }
    const folder = stagedFolder(record);
    if (folder !== undefined) {
      staged.push(folder);
      continue;
    }
    const seal = sealOf(record);
    if (seal === undefined) return garbled(answer, 'printed a record that is no seal');
    (seal.kind === 'file' ? files : trees).push(seal);
  }
  const ids = [...[...files, ...trees].map(({ id }) => id), ...staged];
  if (new Set(ids).size !== ids.length) return garbled(answer, 'printed one seal twice');
  return known({ files, trees, staged, ...Object.fromEntries(lists) });
}

const stagedFolder = ({ head, lines }: NodeRecord): string | undefined =>
  lines.length > 0 ? undefined : /^staged ((?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16})$/.exec(head)?.[1];

function sealOf({ head, lines }: NodeRecord): (FoundSeal & { readonly kind: 'file' | 'tree' }) | undefined {
  const [, fileId] = /^file ([0-9a-f]{16})$/.exec(head) ?? [];
  const [, treeId] = /^tree ((?:runtimes|models)\/[A-Za-z0-9._-]{1,255}\/[0-9a-f]{16})$/.exec(head) ?? [];
  const fields = readFields(lines);
  if (fields === undefined) return undefined;
  if (fileId !== undefined) return { kind: 'file', id: fileId, fields };
  return treeId === undefined ? undefined : { kind: 'tree', id: treeId, fields };
}

/** A list that a tool should have printed; `what` completes "… could not be …". */
export function listOr(list: SealList | undefined, what: string): Known<readonly string[]> {
  if (list === undefined) return unknown('failed', `${what} were not looked at.`);
  return list.exit === 0 ? known(list.lines) : unknown('failed', `Looking at ${what} ended with ${list.exit}.`);
}
