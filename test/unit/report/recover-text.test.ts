import { expect, it } from 'vitest';
import { nodeName } from '../../../src/model/node.ts';
import type { PlacementSurvey } from '../../../src/rack/placement/check/placement-survey.ts';
import { plainPaint } from '../../../src/report/page.ts';
import { wrongLines } from '../../../src/report/recover-text.ts';

const page = { columns: 120, unicode: true, paint: plainPaint, isSimulated: false };
const chat: PlacementSurvey = {
  ...{ name: 'chat', nodes: [nodeName('studio-1')], transport: 'rdma', wanted: 'serving' },
  ...{ state: 'hung', evidence: 'no token', standing: 'differs' },
};
const shown = (one: PlacementSurvey) => wrongLines([one], { kind: 'person', findings: [] }, page);

it('the screen of recover does not call a placement silent if a Mac is gone', () => {
  expect(shown(chat)).toEqual(['chat does not serve: hung, no token']);
  const gone = { ...chat, state: 'unknown', evidence: 'studio-1: it is away', standing: 'unknown' } as const;
  expect(shown(gone)).toEqual(['It is unknown whether chat serves: studio-1: it is away']);
});
