import { describe, expect, it } from 'vitest';
import type { Publication } from '../../../../src/model/desired.ts';
import { known } from '../../../../src/model/known.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { gatewayPlan, onItsNodes, published } from '../../../rack/plans.ts';

const keyed: Publication = { servedName: 'kimi', apiKeys: [{ kind: 'env', name: 'KEY' }], keyHashes: known([]) };
const reportedOf = (publication: Publication): readonly unknown[] =>
  gatewayPlan({ of: published({ publication }), ranks: onItsNodes, closed: [] })
    .diagnostics.filter(({ code }) => code === 'endpoint/clear-text')
    .map(({ severity, subject, detail }) => [severity, subjectText(subject), detail]);

describe('endpoint/clear-text', () => {
  it('is reported by every plan unless clients use proxies or need no key', () => {
    expect(reportedOf(keyed)).toEqual([
      ['warning', 'placement kimi', 'It uses HTTP: keys and prompts cross the network unencrypted.'],
    ]);
    expect(reportedOf({ ...keyed, proxies: ['10.0.0.5'] })).toEqual([]);
    expect(reportedOf({ servedName: 'kimi' })).toEqual([]);
  });
});
