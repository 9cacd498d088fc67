import { describe, expect, it } from 'vitest';
import {
  below,
  nodePath,
  pathWord,
  place,
  renderPath,
  scriptCommand,
  shellCommand,
  tool,
} from '../../../../src/node/paths/node-paths.ts';

describe('node paths', () => {
  it('are below R in a script, and below the prefix anywhere else', () => {
    expect(pathWord(tool.swVers)).toBe('"$R/usr/bin/sw_vers"');
    expect(pathWord(place.ours)).toBe('"$R/Library/Application Support/meshwright"');
    expect(renderPath(tool.swVers, '')).toBe('/usr/bin/sw_vers');
    expect(renderPath(below(place.ours, 'lease'), '/sim/n1')).toBe(
      '/sim/n1/Library/Application Support/meshwright/lease',
    );
  });

  it('are quoted if they contain shell characters', () => {
    expect(pathWord(nodePath('/Volumes/$(id)'))).toBe(`"$R"'/Volumes/$(id)'`);
  });

  it('form command lines whose arguments are quoted if necessary', () => {
    expect(scriptCommand([tool.date, '-u', '+%s'])).toBe('"$R/bin/date" -u +%s');
    expect(scriptCommand([tool.sh, '-c', 'exit 1', ''])).toBe(`"$R/bin/sh" -c 'exit 1' ''`);
  });

  it('form an exec request that replaces the login shell with sh', () => {
    expect(shellCommand("printf 'a\\n'")).toBe(`exec /bin/sh -c 'printf '\\''a'\\\\'n'\\'''`);
  });
});
