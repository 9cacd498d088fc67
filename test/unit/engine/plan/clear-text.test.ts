import { expect, it } from 'vitest';
import type { Publication } from '../../../../src/model/desired.ts';
import { known } from '../../../../src/model/known.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { doorPlan, onItsNodes, published } from '../../../rack/plans.ts';

const keyed: Publication = { servedName: 'kimi', apiKeys: [{ kind: 'env', name: 'KEY' }], keyHashes: known([]) };
const toldOf = (publication: Publication): readonly unknown[] =>
  doorPlan({ of: published({ publication }), members: onItsNodes, closed: [] })
    .diagnostics.filter(({ code }) => code === 'endpoint/clear-text')
    .map(({ severity, subject, detail }) => [severity, subjectText(subject), detail]);

it('tells each time that keys cross the network in clear text, unless clients come through proxies or need none', () => {
  expect(toldOf(keyed)).toEqual([
    ['warning', 'placement kimi', 'It uses HTTP: keys and prompts cross the network unencrypted.'],
  ]);
  expect(toldOf({ ...keyed, proxies: ['10.0.0.5'] })).toEqual([]);
  expect(toldOf({ servedName: 'kimi' })).toEqual([]);
});
