import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import { given } from '../../../../../src/model/given.ts';
import type { Goal } from '../../../../../src/rack/goal.ts';
import { placement } from '../../../../../src/rack/placement/resource.ts';
import { changeOf, judgeProperty, propertyKey } from '../../../../../src/rack/resource.ts';
import { asLogin, type MeshChanges, type MeshRack, meshFleet, observeMesh } from '../../../../rack/placements.ts';
import { onOnePage, sayValue } from '../../../one-page.ts';
import { stepLine } from './step-lines.ts';

const folder = new URL('../../../../cases/resources/placement/', import.meta.url);

interface PlacementFile {
  readonly title: string;
  /** Changes to the default fleet of these tests. */
  readonly file?: MeshChanges;
  /** True if the ranks run as their own account. */
  readonly hasAccount?: boolean;
  readonly rack: MeshRack;
  readonly goal?: Goal;
  readonly changes: readonly string[];
  readonly unknown?: readonly string[];
  readonly steps: readonly string[];
  readonly rescue?: readonly string[];
  readonly blockers?: readonly string[];
}

function planned({ file, hasAccount, rack, goal }: PlacementFile) {
  const desired = hasAccount === true ? meshFleet(file) : asLogin(meshFleet(file));
  const targets = desired.nodes.map(({ name }) => name);
  const view = viewOf({ desired, observation: observeMesh(desired, rack), targets, ...given({ goal }) });
  const properties = placement.properties(view);
  const withFiles = properties.filter(({ address }) => !address.endsWith('/service-file'));
  const changes = withFiles.filter((one) => judgeProperty(one) === 'differs').map(changeOf);
  const { steps, rescues = [] } = placement.steps(changes, view);
  for (const { id, act } of steps) if (act.kind !== 'put' && act.kind !== 'gate') sayValue([id, act]);
  for (const one of [...withFiles, ...(placement.unobserved?.(view) ?? [])]) sayValue(one);
  return {
    changes: changes.map(({ id, from, to }) => `${id}: ${from} -> ${to}`),
    unknown: withFiles
      .filter((one) => judgeProperty(one) === 'unknown')
      .map((one) => `${propertyKey(one)}: ${one.from}`),
    steps: steps.map((step) => stepLine(step, 'kimi')),
    rescue: rescues.flatMap((rescue) => rescue.steps.map((step) => stepLine(step, 'kimi'))),
    blockers: (placement.blockers?.(view) ?? []).map(
      ({ code, node, action }) => `${code} on ${node}: ${plainText(action)}`,
    ),
  };
}

describe('the placement resource', () => {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const { title, file, hasAccount, rack, goal, ...wanted }: PlacementFile = parse(text);
    it(`${title} (${name})`, () => {
      const found = planned({ title, rack, ...given({ file, hasAccount, goal }), changes: [], steps: [] });
      expect(found).toEqual({ unknown: [], rescue: [], blockers: [], ...wanted });
    });
  }
});

onOnePage('placement-cases');
