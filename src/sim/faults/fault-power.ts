import type { Ailments, MacState } from '../model/mac.ts';
import { defineFault, macFault, shownBy } from './fault.ts';
import { aimAtNode } from './fault-targets.ts';

const ailing = (mac: MacState, ailments: Partial<Ailments>): MacState => ({
  ...mac,
  ailments: { ...mac.ailments, ...ailments },
});

/** A kernel panic. It is over when the Mac is there again; its report stays. */
export const crash = defineFault(
  'crash',
  shownBy(
    macFault('the kernel panics: the Mac goes down at once, and starts again by itself', aimAtNode, (mac) =>
      mac.ailments.panic === undefined ? ailing(mac, { panic: 'crash' }) : 'it goes down already',
    ),
    ({ ailments }) => ailments.panic,
  ),
);

/** Somebody pulled the plug, or the house has no current. It comes back with the current where pmset says so. */
export const powerCut = defineFault(
  'power-cut',
  shownBy(
    macFault(
      'the current is gone; with it back the Mac starts by itself if autorestart is on, else by its button',
      aimAtNode,
      (mac) => (mac.ailments.lacksCurrent ? 'it has no current already' : ailing(mac, { lacksCurrent: true })),
    ),
    ({ ailments }) => ailments.lacksCurrent,
  ),
);

/** What was told of TCP under load over Thunderbolt: panics in the driver of IP over Thunderbolt. */
export const tcpLoadPanic = defineFault(
  'tcp-load-panic',
  shownBy(
    macFault('the kernel panics as soon as ranks send TCP over its cables', aimAtNode, (mac) =>
      mac.ailments.panicsUnderTcp ? 'it does so already' : ailing(mac, { panicsUnderTcp: true }),
    ),
    ({ ailments }) => ailments.panicsUnderTcp,
  ),
);
