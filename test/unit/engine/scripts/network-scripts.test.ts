import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { changed, makeMacRoot, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

describe.each(scriptShells)('order-services in $name', (shell) => {
  const call: ScriptCall = { name: 'order-services', args: { last: ['en2', 'en3', 'bridge0'] } };
  const listing = [
    ['Thunderbolt 1', 'Thunderbolt 1', 'en2', '1'],
    ['Ana\'s "office" $(reboot)', 'Ethernet', 'en0', '2'],
    ['(en3) Cluster', 'Thunderbolt 2', 'en3', '*'],
    ['Wi-Fi', 'Wi-Fi', 'en1', '4'],
    ['Tailscale', 'io.tailscale.ipn.macsys', '', '5'],
  ] as const;
  const text = (at: readonly number[]): string =>
    at
      .flatMap((index, place) => {
        const [name, port, device, mark] = listing[index] ?? [];
        return [`(${mark === '*' ? '*' : place + 1}) ${name}`, `(Hardware Port: ${port}, Device: ${device})`, ''];
      })
      .join('\n');
  /** Accepts an order only if the number of names equals the number of services, and stores its arguments. */
  const networksetup = (wanted: readonly number[]): string => `case $1 in
(-listnetworkserviceorder) printf 'An asterisk (*) denotes that a network service is disabled.\\n'
  if [ -e "$R/../ordered" ]; then /bin/cat "$R/../after"; else /bin/cat "$R/../before"; fi ;;
(-ordernetworkservices) shift
  [ $# -eq ${wanted.length} ] || { printf 'Wrong number of network services... No changes have been made.\\n** Error: The parameters were not valid.\\n'; exit 4; }
  printf '%s\\n' "$@" >"$R/../ordered" ;;
esac`;

  it('moves the given services to the end and keeps the others in order', async () => {
    const root = newRoot(shell);
    const wanted = [1, 3, 4, 0, 2];
    root.file('../before', text([0, 1, 2, 3, 4]));
    root.file('../after', text(wanted));
    root.recorded('usr/sbin/networksetup', networksetup(wanted));
    expect(await run(root, call)).toEqual(changed);
    expect(root.read('../ordered').trimEnd().split('\n')).toEqual(wanted.map((at) => listing[at]?.[0]));
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('fails when networksetup refuses the order or shows a different one', async () => {
    const root = newRoot(shell);
    root.file('../before', text([0, 1, 2, 3, 4]));
    root.file('../after', text([0, 1, 2, 3, 4]));
    root.recorded('usr/sbin/networksetup', networksetup([0]));
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'networksetup' });
    root.recorded('usr/sbin/networksetup', networksetup([0, 1, 2, 3, 4]));
    expect(await run(root, call)).toMatchObject({
      slug: 'networksetup',
      text: expect.stringContaining('did not change'),
    });
  });
});
