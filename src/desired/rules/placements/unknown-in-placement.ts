import type { DiagnosticCode } from '../../../diagnostics/codes.ts';
import { placementSubject } from '../../../model/subject.ts';
import type { Prose } from '../../../model/text/prose.ts';
import { type Choices, choicesAmong } from '../../choices.ts';
import type { Draft } from '../../draft/draft.ts';
import type { DraftText } from '../../draft/draft-values.ts';
import type { Finding } from '../../draft/finding.ts';

/** One kind of thing that a placement names. */
interface Named {
  readonly code: DiagnosticCode;
  readonly kind: 'node' | 'model' | 'runtime';
  readonly known: ReadonlySet<string>;
  readonly choices: Choices;
}

/** Every node, model and runtime of a placement must stand in the file. */
export function unknownInPlacement(draft: Draft): readonly Finding[] {
  const nodes: Named = {
    code: 'placement/unknown-node',
    kind: 'node',
    known: draft.nodeNames,
    choices: choicesAmong(draft.nodes.map(({ name }) => name)),
  };
  const models: Named = {
    code: 'placement/unknown-model',
    kind: 'model',
    known: draft.modelNames,
    choices: choicesAmong(draft.models.map(({ name }) => name)),
  };
  const runtimes: Named = {
    code: 'placement/unknown-runtime',
    kind: 'runtime',
    known: draft.runtimeNames,
    choices: choicesAmong(draft.runtimes.map(({ name }) => name)),
  };
  return draft.placements.flatMap(({ name, model, runtime, nodes: members, fallback }) => [
    ...unknown(model, models, name),
    ...unknown(runtime, runtimes, name),
    // Without any node only that is told, by the schema.
    ...(draft.nodeNames.size === 0 ? [] : members.flatMap((member) => unknown(member, nodes, name))),
    ...(draft.nodeNames.size === 0 ? [] : (fallback?.nodes ?? []).flatMap((member) => unknown(member, nodes, name))),
  ]);
}

function unknown(text: DraftText | undefined, named: Named, placement: string): readonly Finding[] {
  const { code, kind, known, choices } = named;
  if (text === undefined || !text.isText || known.has(text.text)) return [];
  const near = choices.near(text.text);
  const finding: Finding = {
    pointer: text.pointer,
    at: 'value',
    code,
    detail: `There is no ${kind} \`${text.text}\` in this file.`,
    subject: placementSubject(placement),
    ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
    ...hintFor(near, named),
  };
  return [finding];
}

function hintFor(near: string | undefined, { kind, choices }: Named): { readonly hint?: Prose } {
  if (near !== undefined) return { hint: `Did you mean \`${near}\`?` };
  return choices.list === '' ? {} : { hint: `The ${kind}s are ${choices.list}.` };
}
