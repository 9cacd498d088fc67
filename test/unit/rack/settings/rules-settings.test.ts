import { describe, expect, it } from 'vitest';
import { evidenceFor } from '../../../../src/engine/diagnose/troubles.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { examine } from '../../../../src/rack/examination.ts';
import { placed } from '../../../rack/placements.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../../../rack/rack.ts';
import { findingsOf, hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });
const system = (desired: Partial<DesiredFleet['system']>): Partial<DesiredFleet> => ({
  system: { ...desiredFleet().system, ...desired },
});

describe('settings that the file does not mention', () => {
  it('are never reported', () => {
    const seen = only({
      'automatic-updates': 'on',
      'automatic-login': { user: 'ana' },
      names: {},
      'screen-sharing': { isLoaded: true, isLoadedAtBoot: true },
      firewall: 'on',
      spotlight: [{ volume: '/', state: 'on' }],
      'time-machine': 'on',
      'photos-analysis': [{ agent: 'com.apple.photoanalysisd', state: 'on' }],
    });
    expect(told(seen)).toEqual([]);
  });
});

describe('automatic updates', () => {
  const desired: Partial<DesiredFleet> = { macos: { automaticUpdates: 'disabled' } };

  it('are reported only if known to be on while the file disables them', () => {
    expect(told(only({ 'automatic-updates': 'on' }), desired)).toEqual(['error updates/automatic node studio-3']);
    const unknown: RackChanges = { unknown: { 'studio-3': { 'automatic-updates': 'garbled' } } };
    expect(told(unknown, desired)).toEqual(['warning fact/unknown node studio-3']);
  });
});

describe("a Mac's names", () => {
  const desired = system({ computerName: 'node' });
  const own = { computerName: 'studio-3', localHostName: 'studio-3', hostName: 'studio-3' };

  it('have the command that read them as evidence', () => {
    const changes = only({ names: { computerName: 'x' } });
    const [finding] = findingsOf(changes, desired);
    if (finding === undefined) throw new Error('no finding');
    const [evidence] = evidenceFor(examine(desiredFleet(desired), observedFleet(changes)), finding);
    expect(evidence?.source).toMatch(/^plutil -extract System json /);
  });

  it('are reported in one finding when several differ', () => {
    const seen = only({ names: { computerName: "Ana's", localHostName: 'Anas' } });
    expect(told(seen, desired)).toEqual(['error names/differ node studio-3']);
    expect(findingsOf(seen, desired)[0]?.detail).toBe(
      'The name should be "studio-3", but its computer name is "Ana\'s"; its Bonjour name is "Anas"; its host name is not set.',
    );
  });

  it('are reported as renamed when macOS added a number to avoid a duplicate', () => {
    const seen = only({ names: { ...own, localHostName: 'studio-3-2' } });
    expect(told(seen, desired)).toEqual(['error names/renamed node studio-3']);
    expect(told(only({ names: { ...own, localHostName: 'studio-3-old' } }), desired)).toEqual([
      'error names/differ node studio-3',
    ]);
  });
});

describe('automatic login', () => {
  it('is a manual step, whether it should be on or off', () => {
    const seen: RackChanges = {
      values: {
        'studio-1': { 'automatic-login': { user: 'ana' } },
        'studio-2': { 'automatic-login': { user: 'ana' } },
        'studio-4': { 'automatic-login': { user: 'ana' } },
      },
    };
    expect(told(seen, system({ automaticLogin: 'required' }))).toEqual(['error login/differs node studio-3']);
    expect(told(seen, system({ automaticLogin: 'disabled' }))).toEqual([
      'error login/differs node studio-1',
      'error login/differs node studio-2',
      'error login/differs node studio-4',
    ]);
    expect(hintsOf('login/differs', seen, system({ automaticLogin: 'disabled' }))[0]).toBe(
      'On studio-1, in System Settings > Users & Groups, set "Automatically log in as" to Off.',
    );
  });

  it('requires FileVault to be off', () => {
    const values = Object.fromEntries(
      ['studio-1', 'studio-2', 'studio-4'].map((name) => [name, { 'automatic-login': { user: 'ana' } }]),
    );
    const seen: RackChanges = { values: { ...values, 'studio-3': { filevault: 'on' } } };
    expect(told(seen, system({ automaticLogin: 'required' }))).toEqual([
      'error login/needs-filevault-off node studio-3',
    ]);
  });
});

describe('Screen Sharing', () => {
  it('is reported when it differs now or after the next start', () => {
    const seen = only({ 'screen-sharing': { isLoaded: false, isLoadedAtBoot: true } });
    expect(told(seen, system({ screenSharing: 'disabled' }))).toEqual(['error sharing/screen node studio-3']);
    expect(findingsOf(seen, system({ screenSharing: 'disabled' }))[0]?.detail).toBe(
      'Screen Sharing is off until the next start, but the file wants it disabled.',
    );
  });
});

describe('Remote Login', () => {
  it('is reported when a reachable Mac has it switched off', () => {
    expect(told(only({ 'remote-login': 'off' }))).toEqual(['warning sharing/remote-login-off node studio-3']);
    expect(told({ unknown: { 'studio-3': { 'remote-login': 'garbled' } } })).not.toContain(
      'warning sharing/remote-login-off node studio-3',
    );
  });
});

describe('background services', () => {
  it('are reported in one finding when they run but the file stops them', () => {
    const stop = system({ backgroundServices: 'stop' });
    const both = only({ spotlight: [{ volume: '/', state: 'on' }], 'time-machine': 'on' });
    expect(told(both, stop)).toEqual(['error background/on node studio-3']);
    expect(findingsOf(both, stop)[0]?.detail).toBe(
      'Spotlight indexes the disk, and Time Machine makes automatic backups.',
    );
    const photos = only({ 'photos-analysis': [{ agent: 'com.apple.photoanalysisd', state: 'on' }] });
    expect(told(photos)).toEqual([]);
    expect(findingsOf(photos, stop).map(({ code, detail }) => [code, detail])).toEqual([
      ['background/on', 'macOS can analyze photos while the ssh user is logged in at the screen.'],
    ]);
    const unknown: RackChanges = { unknown: { 'studio-3': { 'time-machine': 'no-privilege' } } };
    expect(told(unknown, stop).filter((one) => one.includes('background'))).toEqual([]);
  });
});

describe('the application firewall', () => {
  const placement = placed('chat', ['studio-1', 'studio-3']);
  const seen = only({ firewall: 'blocks-all' });

  it('is reported when the file wants it off', () => {
    expect(told(seen, { ...system({ firewall: 'disabled' }), placements: [placement] })).toEqual([
      'error firewall/on node studio-3',
    ]);
  });

  it('is reported when a running placement listens behind it', () => {
    expect(told(seen, { placements: [placement] })).toEqual(['warning firewall/in-the-way node studio-3']);
    expect(told(seen, { placements: [{ ...placement, state: 'stopped' }] })).toEqual([]);
  });
});

describe('the clock', () => {
  it('is set by apply if the file allows it', () => {
    const ahead = only({ clock: { offsetMs: 420_000, uncertaintyMs: 500 } });
    expect(hintsOf('clock/offset', ahead)[0]).toMatch(/^On studio-3:/);
    expect(hintsOf('clock/offset', ahead, system({ clock: 'set' }))[0]).toMatch(/^Set it with meshwright apply/);
  });
});

onOnePage('rules-settings');
