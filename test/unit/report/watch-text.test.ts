import { describe, expect, it } from 'vitest';
import { cableWork } from '../../../src/engine/cables/cable-work.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import { cablesText, doneLine, eventLines, identifyLines, watchParagraphs } from '../../../src/report/cables.ts';
import { plainPaint } from '../../../src/report/page.ts';
import {
  desiredFleet,
  desiredNode,
  end,
  healthyFacts,
  links,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../rack/rack.ts';
import { onOnePage, say } from '../one-page.ts';

const page = { columns: 80, unicode: false, paint: plainPaint, isSimulated: true };

function shown(changes: RackChanges, desired: Partial<DesiredFleet> = {}): readonly string[] {
  const work = cableWork(desiredFleet(desired), observedFleet(changes));
  const lines = watchParagraphs(work, changes.unreachable ?? [], page).flat();
  say([cablesText(desiredFleet(desired), work, page), ...lines].join('\n'));
  return lines;
}

describe('the text for watched cabling', () => {
  it('shows the next act and the progress, using node numbers', () => {
    expect(shown({ cables: meshOfFour.slice(0, 5) })).toEqual([
      '  next: connect studio-3 receptacle 4 and studio-4 receptacle 4 with a',
      '        Thunderbolt 5 cable (studio-3:4: back, 4th from Ethernet; studio-4:4:',
      '        back, 4th from Ethernet)',
      '  done: 1-2  1-3  1-4  2-3  2-4     missing: 3-4',
    ]);
  });

  it.each(['oak', 'ash2'])('shows full names of nodes without a common number pattern: ash, %s', (other) => {
    const desired = {
      nodes: ['ash', other].map((name) => desiredNode(name)),
      thunderbolt: { ...desiredFleet().thunderbolt, links: links([`ash:2 <-> ${other}:2`]) },
    };
    expect(shown({ names: ['ash', other], cables: [] }, desired).at(-1)).toBe(`  done: -     missing: ash-${other}`);
  });

  it("shows an unobserved node's links as unknown", () => {
    expect(shown({ unreachable: ['studio-4'] })).toEqual([
      '  next: unknown until studio-4 can be observed',
      '  done: 1-2  1-3  2-3     missing: -     unknown: 1-4  2-4  3-4',
      '  not observed: studio-4',
    ]);
  });

  it('shows only the cable to unplug while bridged Macs form a ring', () => {
    const ring = ['studio-1:2 <-> studio-2:2', 'studio-2:3 <-> studio-3:3', 'studio-1:3 <-> studio-3:2'];
    const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };
    const values = Object.fromEntries(
      ['studio-1', 'studio-2', 'studio-3'].map((name) => {
        const { interfaces } = healthyFacts(name, receptacles(name, 6, ring));
        return [name, { interfaces: [...interfaces.map((one) => ({ ...one, ipv4: [] })), bridge] }];
      }),
    );
    expect(shown({ cables: ring, values }).slice(0, 3)).toEqual([
      '  STOP: studio-2:3 <-> studio-3:3: Unplug this cable now; plug it in again after',
      '        the bridges are removed.',
      '  next: unplug the cable named above first',
    ]);
  });

  it('names the command that removes bridges only if apply removes them', () => {
    const cables = meshOfFour.slice(1);
    const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };
    const { interfaces } = healthyFacts('studio-2', receptacles('studio-2', 6, cables));
    const values = { 'studio-2': { interfaces: [...interfaces, bridge] } };
    const waiting = (policy: DesiredFleet['thunderbolt']['bridge']): string =>
      shown({ cables, values }, { thunderbolt: { ...desiredFleet().thunderbolt, bridge: policy } })
        .join(' ')
        .replaceAll(/\s+/g, ' ');
    expect(waiting('remove')).toContain(
      'wait: first remove the Thunderbolt Bridge on studio-2 (meshwright apply --sim); then connect studio-1',
    );
    expect(waiting('verify')).toContain('wait: first remove the Thunderbolt Bridge on studio-2; then connect');
  });

  it('fits a page of 40 columns', () => {
    const work = cableWork(desiredFleet(), observedFleet({ cables: [] }));
    const lines = watchParagraphs(work, [], { ...page, columns: 40 }).flat();
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it("escapes a Mac's name", () => {
    const advice = 'sees a Mac that is not in the file (\u001b[2J)';
    expect(eventLines({ kind: 'plugged', at: end('studio-1:5'), advice }, page).join('')).not.toContain('\u001b');
    const plug = { at: end('studio-1:5'), isEitherEnd: false, sees: 'a dock \u001b[2J' };
    expect(identifyLines(plug, true, page)).toEqual(['studio-1 receptacle 5: plugged in, sees a dock \\u{1b}[2J']);
  });

  it('names both receptacles of a cable that was plugged in or unplugged', () => {
    const ends = { at: end('studio-2:4'), far: end('studio-1:3') };
    const plug = { ...ends, isEitherEnd: false, sees: 'studio-1:3', bitsPerSecond: 80e9 };
    expect(identifyLines(plug, true, page)).toEqual([
      'studio-2 receptacle 4: plugged in, sees studio-1 receptacle 3 at 80 Gb/s',
    ]);
    expect(identifyLines(plug, false, page)).toEqual(['studio-2 receptacle 4: unplugged from studio-1 receptacle 3']);
    const either = { ...plug, isEitherEnd: true };
    const pair = 'studio-2 receptacle 4 or studio-1 receptacle 3';
    const linesOf = (isPlugged: boolean): string =>
      identifyLines(either, isPlugged, page).join(' ').replaceAll(/\s+/g, ' ');
    expect(linesOf(true)).toBe(`${pair}: plugged in at 80 Gb/s`);
    expect(linesOf(false)).toBe(`${pair}: unplugged`);
    expect(eventLines({ kind: 'unplugged', plug: either }, page)).toEqual([`unplugged: ${pair}`]);
    const event = { kind: 'plugged', ...ends, advice: 'this cable is not in the file' } as const;
    expect(eventLines(event, page).join(' ')).toContain(`plugged in: ${pair}; this cable`);
  });

  it('ends with a line about the links in the file', () => {
    expect([0, 1, 6].map((count) => doneLine(count, page))).toEqual([
      'The file declares no links.',
      'The only link matches the file.',
      'All 6 links match the file.',
    ]);
  });
});

onOnePage('watch-text');
