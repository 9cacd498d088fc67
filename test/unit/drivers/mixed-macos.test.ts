import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../src/engine/observe/facts.ts';
import type { DesiredPlacement } from '../../../src/model/desired.ts';
import { known, unknown } from '../../../src/model/known.ts';
import { nodeName } from '../../../src/model/node.ts';
import { readValue } from '../../../src/rack/fact.ts';
import { hardwareFact } from '../../../src/rack/identity/fact.ts';
import { mixedMacosFindings as mixedMacosFindingsItself } from '../../../src/rack/placement/check/placement-checks.ts';
import { meshFleet } from '../../rack/placements.ts';
import { observedFleet } from '../../rack/rack.ts';
import { onOnePage, onPage } from '../one-page.ts';

const mixedMacosFindings = onPage(mixedMacosFindingsItself);

interface Mac {
  readonly macos?: FactValues['macos-version'] | 'unknown';
  readonly model?: string;
}

/** The findings about two nodes, the second of which differs. */
function findings({ macos, model }: Mac, transport: DesiredPlacement['transport'] = 'rdma') {
  const [placement] = meshFleet({ placement: { transport } }).placements;
  const { nodes } = observedFleet();
  const [first, second] = [nodes['studio-1']?.facts, nodes['studio-2']?.facts];
  const hardware = readValue(second, hardwareFact);
  if (placement === undefined || first === undefined || hardware === undefined)
    throw new Error('the rack is incomplete');
  const facts = {
    ...second,
    ...(macos === undefined ? {} : { 'macos-version': macos === 'unknown' ? unknown('failed', 'no') : known(macos) }),
    ...(model === undefined ? {} : { hardware: known({ ...hardware, model }) }),
  };
  const checked = [
    { node: nodeName('studio-1'), facts: first },
    { node: nodeName('studio-2'), facts },
  ];
  return mixedMacosFindings(placement, checked).map(({ code, severity, detail }) => `${severity} ${code} ${detail}`);
}

describe("macOS on a placement's nodes", () => {
  it('may not differ in version, extra or build over RDMA', () => {
    expect(findings({ macos: { version: '26.4', build: '25E246' } })).toEqual([
      'error placement/mixed-macos studio-1 has macOS 26.5 (25F71), studio-2 has macOS 26.4 (25E246).',
    ]);
    expect(findings({ macos: { version: '26.5', extra: '(a)', build: '25F71' } })).toHaveLength(1);
    expect(findings({ macos: { version: '26.5', build: '25F5058e' } })).toHaveLength(1);
  });

  it('causes only a warning over TCP if it differs', () => {
    expect(findings({ macos: { version: '26.4', build: '25E246' } }, 'tcp')).toEqual([
      expect.stringMatching(/^warning placement\/mixed-macos /),
    ]);
  });

  it('is accepted if equal or unknown', () => {
    expect(findings({})).toEqual([]);
    expect(findings({ macos: 'unknown' })).toEqual([]);
  });

  it('may have a different build of the same version on a different Mac model', () => {
    expect(findings({ macos: { version: '26.5', build: '25F2071' }, model: 'Mac17,7' })).toEqual([]);
    expect(findings({ macos: { version: '26.4', build: '25E246' }, model: 'Mac17,7' })).toHaveLength(1);
  });
});

onOnePage('mixed-macos');
