import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { MacosUpdate } from '../../../../src/model/facts/mac.ts';
import { exoFleet } from '../../../rack/placements.ts';
import type { RackChanges } from '../../../rack/rack.ts';
import { hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });
const all = (values: Partial<FactValues>): RackChanges => ({
  values: Object.fromEntries(names.map((name) => [name, values])),
});

describe('the macOS version', () => {
  const macos = (version: string, extra?: string): Partial<FactValues> => ({
    'macos-version': { version, build: '25X1', ...(extra === undefined ? {} : { extra }) },
  });

  it.each([
    ['outside-accept', 'the file does not accept it', macos('26.3')],
    ['outside-accept', 'it is also too old for RDMA', macos('26.1')],
    ['versions-differ', 'it differs between cabled nodes', macos('26.4.1')],
    ['versions-differ', 'the background security improvement differs', macos('26.5', '(a)')],
  ])('causes only the error %s if %s', (code, _, values) => {
    expect(told(only(values))).toEqual([`error macos/${code} node studio-3`]);
  });

  it('causes an error for the numerically older half when the nodes split evenly', () => {
    const [newer, older] = [macos('26.10'), macos('26.4')];
    const values = { 'studio-1': newer, 'studio-2': newer, 'studio-3': older, 'studio-4': older };
    expect(told({ values }, { macos: {} })).toEqual(['error macos/versions-differ nodes studio-3, studio-4']);
  });

  it('causes an error for nodes without the desired version if one node has it', () => {
    const values = { 'studio-1': macos('26.4'), 'studio-2': macos('26.4'), 'studio-3': macos('26.4') };
    expect(told({ values })).toEqual(['error macos/versions-differ nodes studio-1, studio-2, studio-3']);
  });

  it('suggests widening macos.accept when the desired version is not accepted', () => {
    const desired = { macos: { version: '26.5', accept: '>=27' } };
    const hints = hintsOf('macos/outside-accept', only(macos('26.5')), desired);
    expect(hints).toHaveLength(4);
    for (const hint of hints) expect(hint).toMatch(/^Update macOS on studio-\d to 26\.5 .*, or widen macos\.accept\./);
  });

  it('causes a warning if a runtime of the file breaks with it, as observed or as desired', () => {
    const { runtimes, models, placements } = exoFleet({ runtime: { version: '1.0.68' } });
    const withExo = (version: string | undefined, seen: string) =>
      told(all(macos(seen)), { macos: version === undefined ? {} : { version }, runtimes, models, placements });
    const warning = 'warning version/known-pair runtime exo';
    expect(withExo(undefined, '26.3.1')).toEqual([warning]);
    expect(withExo('26.3.1', '26.2')).toContain(warning);
    expect(withExo(undefined, '26.2')).toEqual([]);
  });

  it('is never downgraded by a hint', () => {
    const newer = only(macos('26.7'));
    const hints = [
      hintsOf('macos/outside-accept', newer),
      hintsOf('macos/outside-accept', newer, { macos: { accept: '<26.6' } }),
      hintsOf('macos/not-the-wish', all(macos('26.5.1'))),
      hintsOf('macos/versions-differ', only(macos('26.5.1'))),
    ].flat();
    expect(hints).toHaveLength(4);
    for (const hint of hints) {
      expect(hint).toMatch(/macos\.(?:version|accept)/);
      expect(hint).toContain('erases the Mac');
      expect(hint).not.toMatch(/[Uu]pdate macOS/);
    }
  });

  it('causes one notice for all nodes when they share an undesired version', () => {
    expect(told(all(macos('26.5.1')))).toEqual([`notice macos/not-the-wish nodes ${names.join(', ')}`]);
  });

  it('causes a warning when builds differ on the same model', () => {
    expect(told(only(macos('26.5')))).toEqual([
      'warning macos/builds-differ nodes studio-1, studio-2, studio-3, studio-4',
    ]);
  });

  it('may have a different build on a different model', () => {
    const hardware = { model: 'Mac16,9', chip: 'Apple M4 Max', memoryBytes: 2 ** 39 };
    expect(told(only({ ...macos('26.5'), hardware }))).toEqual([]);
  });

  it('is only reported as unknown when it was not read', () => {
    expect(told({ unknown: { 'studio-3': { 'macos-version': 'garbled' } } })).toEqual([
      'warning fact/unknown node studio-3',
    ]);
  });
});

describe('macOS update hints', () => {
  const pane = 'System Settings > General > Software Update';
  const update = (version: string, build: string): MacosUpdate => ({
    label: `macOS ${version}-${build}`,
    title: `macOS ${version}`,
    version,
    build,
  });
  const tahoe = update('26.7', '25G229');
  const golden = update('27.0', '26A428');
  const mac = (version: string, offers: readonly MacosUpdate[]): Partial<FactValues> => ({
    'macos-version': { version, build: '25X1' },
    'software-updates': offers,
  });
  const outside = (offers: readonly MacosUpdate[], wanted: DesiredFleet['macos']): string | undefined =>
    hintsOf('macos/outside-accept', only(mac('26.3', offers)), { macos: wanted }).find((hint) =>
      hint.includes('on studio-3 to'),
    );

  it('name the offered update that matches the file', () => {
    expect(outside([tahoe, golden], { version: '26.7', accept: '>=26.4 <28' })).toBe(
      `Update macOS on studio-3 to 26.7, or widen macos.accept. studio-3 offers this version: macOS 26.7 (25G229), in ${pane}.`,
    );
    expect(outside([tahoe, golden], { accept: '>=26.4 <28' })).toBe(
      'Update macOS on studio-3 to an accepted version, or widen macos.accept. ' +
        `studio-3 offers macOS 27.0 (26A428), in ${pane}.`,
    );
  });

  it('prefer a release to a beta and mark betas', () => {
    const beta = { ...golden, label: 'macOS 27 Beta 7-26A5421a', title: 'macOS 27 Beta 7', build: '26A5421a' };
    const wanted = { version: '27.0', accept: '>=27' };
    expect(outside([beta, golden], wanted)).toContain(' studio-3 offers this version: macOS 27.0 (26A428), in ');
    expect(outside([beta], wanted)).toContain(' studio-3 offers this version: macOS 27.0 (26A5421a, beta), in ');
    const onBeta = only({ ...mac('27.0', [beta, golden]), 'macos-version': { version: '27.0', build: beta.build } });
    const [, , hint] = hintsOf('macos/outside-accept', onBeta, { macos: { version: '27.1', accept: '>=27.1' } });
    expect(hint).toContain(' studio-3 offers only macOS 27.0 (26A428), which the file does not accept.');
  });

  it('name a background security improvement, which is no beta', () => {
    const build = '25F771280a';
    const improvement = { ...update('26.5', build), extra: '(a)' };
    const improved = { version: '26.5', extra: '(a)', build };
    const values = {
      'studio-3': { ...mac('26.5', []), 'macos-version': improved },
      'studio-1': mac('26.5', [improvement]),
    };
    const [hint] = hintsOf('macos/versions-differ', { values }, { macos: {} });
    expect(hint).toContain(` studio-1 offers this version: macOS 26.5 (a) (25F771280a), in ${pane}.`);
  });

  it('compare version numbers and ignore update names', () => {
    const { build: _, ...named } = { ...golden, label: 'macOS Golden Gate', title: 'macOS Golden Gate' };
    expect(outside([named], { version: '27', accept: '>=27' })).toContain(
      ' studio-3 offers this version: macOS 27.0, in ',
    );
  });

  it('report a Mac that offers only unwanted versions', () => {
    const wanted = { version: '26.5', accept: '>=26.4 <26.6' };
    expect(outside([golden], wanted)).toBe(
      `Update macOS on studio-3 to 26.5 (${pane}), or widen macos.accept. ` +
        'studio-3 offers only macOS 27.0 (26A428), which the file does not accept.',
    );
    expect(outside([tahoe, golden], wanted)).toContain(
      ' studio-3 offers only macOS 26.7 (25G229) and macOS 27.0 (26A428), which the file does not accept.',
    );
    expect(outside([tahoe, golden], { version: '26.5', accept: '>=26.4 <27' })).toContain(
      ' studio-3 offers only macOS 26.7 (25G229) and macOS 27.0 (26A428), not 26.5.',
    );
  });

  it('do not name an update when no newer macOS is offered', () => {
    const text = `Update macOS on studio-3 to 26.5 (${pane}), or widen macos.accept.`;
    const wanted = { version: '26.5', accept: '>=26.4 <26.6' };
    const unseen = { ...only(mac('26.3', [])), unknown: { 'studio-3': { 'software-updates': 'garbled' } } } as const;
    expect(outside([], wanted)).toBe(text);
    expect(outside([update('26.3', '25X9'), update('26.2', '25C56')], wanted)).toBe(text);
    expect(hintsOf('macos/outside-accept', unseen, { macos: wanted })).toEqual([text]);
  });

  it('name each Mac that offers the desired macOS, but not those that run it', () => {
    const [first, ...others] = names;
    const wanted = { version: '26.7', accept: '>=26.4 <28' };
    const withBoth = all(mac('26.5', [tahoe, golden]));
    expect(hintsOf('macos/not-the-wish', withBoth, { macos: wanted })[0]).toContain('studio-1..4 offer this version:');
    const values = Object.fromEntries([
      [first, mac('26.7', [golden])],
      ...others.map((name) => [name, mac('26.5', name === 'studio-2' ? [tahoe, golden] : [golden])]),
    ]);
    const [hint] = hintsOf('macos/versions-differ', { values }, { macos: wanted });
    expect(hint).toMatch(
      / studio-2 offers this version: .* studio-3,4 offer only macOS 27\.0 \(26A428\), not 26\.7\. Or set/,
    );
  });

  it('name a full installer and a version offered to all Macs if a Mac is not offered the desired macOS', () => {
    const hint = (accept: string, offers: readonly MacosUpdate[]): string | undefined => {
      const values = { ...all(mac('26.5', offers)).values, 'studio-3': mac('26.4.1', [golden, tahoe]) };
      return hintsOf('macos/versions-differ', { values }, { macos: { version: '26.5', accept } })[0];
    };
    const installer = 'Or use a full installer of 26.5 on studio-3.';
    expect(hint('>=26.4 <28', [tahoe, golden])).toMatch(
      new RegExp(
        `not 26\\.5\\. Or set macos\\.version to 26\\.7, which all .* and update all of them\\. ${installer}$`,
      ),
    );
    expect(hint('>=26.4 <26.6', [tahoe])).toMatch(new RegExp(`does not accept\\. ${installer}$`));
    expect(hint('>=26.4 <28', [])).toMatch(new RegExp(`not 26\\.5\\. ${installer}$`));
  });

  it('name the updates of older Macs when the newest Mac sets the version', () => {
    const values = { 'studio-3': mac('26.7', [golden]), 'studio-1': mac('26.5', [tahoe]) };
    const [hint] = hintsOf('macos/versions-differ', { values }, { macos: { version: '26.5' } });
    expect(hint).toMatch(/erases the Mac .*\. studio-1 offers this version: macOS 26\.7 \(25G229\), in /);
    expect(hintsOf('macos/versions-differ', { values }, { macos: {} })[0]).toMatch(
      /\. studio-1 offers this version: macOS 26\.7 /,
    );
  });

  it('never suggest a macOS older than the installed version', () => {
    expect(hintsOf('macos/not-the-wish', all(mac('26.7', [golden])), { macos: { version: '26.5' } })).toEqual([
      expect.not.stringContaining('offer'),
    ]);
  });

  it('do not add a finding when the updates are unknown', () => {
    for (const reason of ['garbled', 'tool-missing', 'timed-out'] as const) {
      expect(told({ unknown: { 'studio-3': { 'software-updates': reason } } })).toEqual([]);
    }
  });
});

onOnePage('rules-macos');
