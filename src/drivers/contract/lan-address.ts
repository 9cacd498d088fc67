import type { Route } from '../../model/facts/fact-values.ts';
import type { Facts } from '../../model/facts/observation.ts';

/**
 * The IPv4 address of a node in the office network: of the interface over which it was asked, else of the one that its
 * default route leaves by. Undefined where nobody could see it.
 */
export function lanAddress({ interfaces, routes }: Facts): string | undefined {
  if (interfaces.kind === 'unknown') return undefined;
  const carrier = interfaces.value.find(({ carriesConnection }) => carriesConnection === true);
  const device = routes.kind === 'known' ? defaultDevice(routes.value) : undefined;
  const found = carrier ?? interfaces.value.find(({ name, isUp }) => isUp && name === device);
  return found?.ipv4[0]?.address;
}

/** Of several default routes the one that is not bound to its interface counts. @see netstat(1), flag I */
const defaultDevice = (routes: readonly Route[]): string | undefined =>
  routes
    .filter(({ destination }) => destination.address === '0.0.0.0' && destination.prefixLength === 0)
    .toSorted((a, b) => Number(a.flags.includes('I')) - Number(b.flags.includes('I')))[0]?.device;
