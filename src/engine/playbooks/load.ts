import { diagnosticsOf, type Problem } from '../../config/problem.ts';
import { type ReadDocument, readDocument } from '../../config/read-document.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { nodeName } from '../../model/node.ts';
import type { BatchSize, NodeChoice, Play, Playbook } from './playbook.ts';
import { playbookProblems } from './playbook-problems.ts';
import { readTask, type TaskSpecs } from './tasks.ts';
import { playbookSchema, validatePlaybook } from './validator.generated.ts';

/** A playbook file that was read: what it says when there is no error, and always every problem by place. */
export interface LoadedPlaybook {
  readonly playbook?: Playbook;
  readonly diagnostics: readonly Diagnostic[];
}

/** What a playbook is judged against, and what it is called. */
export interface PlaybookOrigin {
  /** The name that diagnostics show. */
  readonly file: string;
  /** `restart` for `restart.yaml`. */
  readonly name: string;
  /** Nodes, labels and placements that it may name; without it names are not judged. */
  readonly fleet?: DesiredFleet;
}

/**
 * Reads and judges a playbook. All problems come back together, each with file, line and column; `playbook` is there
 * unless one of them is an error. Never throws, whatever the input holds.
 */
export function loadPlaybook(input: string | Uint8Array, { file, name, fleet }: PlaybookOrigin): LoadedPlaybook {
  const document = readDocument(input, file);
  if (document.value === undefined) return { diagnostics: diagnosticsOf(document.source, document.problems) };
  const diagnostics = diagnosticsOf(document.source, [
    ...document.problems,
    ...playbookProblems(document, fleet),
    ...formProblems(document),
  ]);
  if (hasErrors(diagnostics)) return { diagnostics };
  return { playbook: readPlaybook(document.value as PlaybookSpec, name), diagnostics };
}

const formProblems = (document: ReadDocument): readonly Problem[] =>
  schemaProblems({ schema: playbookSchema, validate: validatePlaybook }, document);

/** A playbook file that its schema allows. */
interface PlaybookSpec {
  readonly about?: string;
  readonly plays: readonly {
    readonly name?: string;
    readonly nodes: string | readonly string[];
    readonly serial?: BatchSpec | readonly BatchSpec[];
    readonly maxFailures?: number;
    readonly tasks: readonly Partial<TaskSpecs>[];
  }[];
}

type BatchSpec = number | string;

function readPlaybook({ about, plays }: PlaybookSpec, name: string): Playbook {
  return { name, ...(about === undefined ? {} : { about }), plays: plays.map(readPlay) };
}

function readPlay({ name, nodes, serial, maxFailures, tasks }: PlaybookSpec['plays'][number]): Play {
  return {
    ...(name === undefined ? {} : { name }),
    nodes: readNodes(nodes),
    serial: serial === undefined ? [] : [serial].flat().map(readBatch),
    maxFailures: maxFailures ?? 0,
    tasks: tasks.map(readTask),
  };
}

function readNodes(nodes: string | readonly string[]): NodeChoice {
  if (typeof nodes !== 'string') return { kind: 'names', names: nodes.map(nodeName) };
  if (nodes === 'all' || nodes === 'targets') return { kind: nodes };
  return { kind: 'labels', labels: nodes.split(',').map((term) => term.trim()) };
}

const readBatch = (size: BatchSpec): BatchSize =>
  typeof size === 'number'
    ? { kind: 'count', count: size }
    : { kind: 'percent', percent: Number(size.replace('%', '')) };
