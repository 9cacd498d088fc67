import { describe, expect, it } from 'vitest';
import { adoptedDaemon as adoptedDaemonItself } from '../../../../src/rack/foreign-daemon/reading.ts';
import { nodesOfOneMac } from '../../../../src/rack/identity/reading.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const adoptedDaemon = onPage(adoptedDaemonItself);

describe('an adopted network daemon', () => {
  const adopted = (wish: string, isLoaded: boolean, isDisabled: boolean) =>
    adoptedDaemon(
      { thunderbolt: { foreignDaemons: wish } } as never,
      {
        'foreign-daemons': { kind: 'known', value: [{ label: 'io.exo.networksetup', isLoaded, isDisabled }] },
      } as never,
    );

  it('owns the cables while it is loaded or will be loaded at boot', () => {
    expect(adopted('adopt', true, false)).toBe('io.exo.networksetup');
    expect(adopted('adopt', true, true)).toBe('io.exo.networksetup');
    expect(adopted('adopt', false, false)).toBe('io.exo.networksetup');
    expect(adopted('adopt', false, true)).toBeUndefined();
    expect(adopted('stop', true, false)).toBeUndefined();
  });
});

describe('nodes that are the same Mac', () => {
  it('are found by hardware UUID, ignoring case', () => {
    const node = (name: string, hardwareUuid: string) => ({
      name,
      facts: { identity: { kind: 'known', value: { hardwareUuid } } },
    });
    const nodes = [node('a', 'AB-12'), node('b', 'cd-34'), node('c', 'ab-12')];
    expect(nodesOfOneMac({ nodes } as never).map((same) => same.map(({ name }) => name))).toEqual([['a', 'c']]);
  });
});

onOnePage('adopted-daemon');
