import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './sources.ts';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
}

const lock: Lock = JSON.parse(textOf('package-lock.json'));
const entries = Object.keys(lock.packages);

/** Optional packages with their dependents. npm silently omits a package that it cannot resolve. */
const optional = Object.entries(lock.packages).flatMap(([owner, { optionalDependencies = {} }]) =>
  Object.keys(optionalDependencies).map((name) => ({ owner, name })),
);

describe('package-lock.json', () => {
  it('has an entry for every optional package for every platform', () => {
    const missing = optional.filter(({ name }) => !entries.some((entry) => entry.endsWith(`node_modules/${name}`)));
    expect(missing).toEqual([]);
  });

  it('has the tools for macOS and Linux', () => {
    for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-x64', 'linux-arm64']) {
      expect(optional.filter(({ name }) => name.includes(platform)).length).toBeGreaterThan(2);
    }
  });

  it('does not name a registry, so that users can install from any registry', () => {
    expect(textOf('package-lock.json')).not.toMatch(/"resolved": "http/);
  });
});

describe('package.json', () => {
  it('lists exactly the packages that src imports as dependencies', () => {
    const { dependencies }: { dependencies: Readonly<Record<string, string>> } = JSON.parse(textOf('package.json'));
    const source = filesBelow('src')
      .filter((path) => path.endsWith('.ts'))
      .map(textOf)
      .join('\n');
    const imported = [...source.matchAll(/^(?! \*).*(?:from|import\() ?'([a-z][\w-]*)[/']/gm)].map(
      ([, name]) => name ?? '',
    );
    expect(Object.keys(dependencies).sort()).toEqual([...new Set(imported)].sort());
  });

  it('pins each package to one version', () => {
    const manifest: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
      textOf('package.json'),
    );
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});
