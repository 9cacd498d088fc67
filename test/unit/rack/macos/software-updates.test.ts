import { describe, expect, it } from 'vitest';
import { softwareUpdatesFact as softwareUpdatesItself } from '../../../../src/rack/macos/fact.ts';
import { answer, asked, type Printed } from '../../engine/observe/fact-cases.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const softwareUpdates = { ...softwareUpdatesItself, parse: onPage(softwareUpdatesItself.parse) };

const title = 'Software Update Tool\n\n';
const heading = 'Software Update found the following new or updated software:\n';
const nothing = 'No new software available.\n';
const item = (label: string, name: string, version: string): string =>
  `* Label: ${label}\n\tTitle: ${name}, Version: ${version}, Size: 1KiB, Recommended: YES, Action: restart, \n`;
const tahoe = item('macOS Tahoe 26.7-25G229', 'macOS Tahoe 26.7', '26.7');
const parsed = (printed: Partial<Printed>) => softwareUpdates.parse([answer('software-updates', printed)], asked);

describe('the software-updates fact', () => {
  it('has no build when the label does not end with one', () => {
    for (const label of ['macOS Tahoe 26.7', 'macOS Tahoe-26.7', '25G229', 'macOS Tahoe 26.7-25g229']) {
      expect(parsed({ stdout: title + heading + item(label, 'macOS Tahoe 26.7', '26.7') })).toEqual({
        kind: 'known',
        value: [{ label, title: 'macOS Tahoe 26.7', version: '26.7' }],
      });
    }
  });

  it('omits software whose title merely contains macOS', () => {
    const tools = item('Command Line Tools for Xcode-27.0', 'Command Line Tools for macOS 27', '27.0');
    expect(parsed({ stdout: title + heading + tools })).toEqual({ kind: 'known', value: [] });
  });

  it('is empty when the tool prints "No new software available" on stdout', () => {
    expect(parsed({ stdout: title + nothing })).toEqual({ kind: 'known', value: [] });
    expect(parsed({ stdout: `${title}Finding available software\n${nothing}\n` })).toEqual({
      kind: 'known',
      value: [],
    });
  });

  it.each([
    ['a heading without an update', { stdout: title + heading }],
    ['an update and "No new software available"', { stdout: title + heading + tahoe, stderr: nothing }],
    ['a duplicate label', { stdout: title + heading + tahoe + tahoe }],
    ['a macOS without a version', { stdout: title + heading + item('macOS 27-26A428', 'macOS 27', '27 Beta') }],
    ['an update after "No new software available"', { stdout: title + nothing + tahoe }],
    ["half of the tool's title", { stdout: 'Software Update Tool\n', stderr: nothing }],
  ])('is unknown for %s', (_, printed) => {
    expect(parsed(printed)).toMatchObject({ kind: 'unknown', reason: 'garbled' });
  });

  it('is unknown when the tool is missing, fails or times out', () => {
    expect(parsed({ code: 127 })).toMatchObject({ reason: 'tool-missing' });
    expect(parsed({ stderr: "Can't connect\n", code: 1 })).toMatchObject({ reason: 'failed' });
    const late = answer('software-updates', { stdout: title + heading + tahoe }, { isLate: true });
    expect(softwareUpdates.parse([late], asked)).toMatchObject({ reason: 'timed-out' });
  });
});

onOnePage('software-updates');
